// svc mcp: the same as the verbs, for a program that speaks the Model Context Protocol.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { scopes, scopesFrom } from '../mcp/tool.ts';
import type { Terminal } from '../terminal.ts';
import { verb } from '../verb.ts';

export function mcpVerb(terminal: Terminal): CommandUnknownOpts {
  const granted = Object.entries(scopes).map(([name, words]) => `  ${name.padEnd(10)} ${words}`);
  return verb('mcp', {
    summary: 'An MCP server on standard input and output, started by its client',
    example: ['svc mcp', 'svc mcp --scopes read,attention,findings'],
  })
    .option('--scopes <list>', 'what the client may do, separated by commas', 'read')
    .addHelpText(
      'after',
      ['', 'Scopes:', ...granted, '', 'Tools and set-up: docs/reference/mcp.md'].join('\n'),
    )
    .action(async (options) => {
      const wanted = scopesFrom(options.scopes);
      if (terminal.inputIsTerminal)
        terminal.err('This speaks MCP and is started by a client (docs/reference/mcp.md). Ctrl-C ends it.');
      // Loaded only here: no other verb needs it.
      const { serveMcp } = await import('../mcp/server.ts');
      await serveMcp(terminal, wanted);
    });
}
