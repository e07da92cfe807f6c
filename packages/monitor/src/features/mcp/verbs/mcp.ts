// svc mcp: the verbs as tools of the Model Context Protocol.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import { scopes, scopesFrom } from '../../../cli/kit/tool.ts';
import { verb } from '../../../cli/kit/verb.ts';

export function mcpVerb(terminal: Terminal): CommandUnknownOpts {
  const allowed = Object.entries(scopes).map(([name, text]) => `  ${name.padEnd(10)} ${text}`);
  return verb('mcp', {
    summary: 'Start an MCP server for a coding agent',
    details: [
      'It uses standard input and output, and its client starts it. Tools and setup: docs/reference/mcp.md',
      '',
      'Scopes:',
      ...allowed,
    ].join('\n'),
    example: ['svc mcp', 'svc mcp --scopes read,attention,findings'],
  })
    .option('--scopes <list>', 'what the client may do, comma-separated', 'read')
    .action(async (options) => {
      const wanted = scopesFrom(options.scopes);
      if (terminal.inputIsTerminal)
        terminal.err(
          'This is an MCP server that a client starts (docs/reference/mcp.md). Stop it with Ctrl-C.',
        );
      // Loaded only here: no other verb needs it.
      const { serveMcp } = await import('./server.ts');
      await serveMcp(terminal, wanted);
    });
}
