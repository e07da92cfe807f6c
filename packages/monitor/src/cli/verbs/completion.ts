// svc completion: prints what a shell needs to complete svc.
import { type CommandUnknownOpts, createArgument } from '@commander-js/extra-typings';
import { completionScript, installLines, shells } from '../completion/scripts.ts';
import type { Terminal } from '../terminal.ts';
import { verb } from '../verb.ts';

export function completionVerb(terminal: Terminal): CommandUnknownOpts {
  const installs = shells.map((shell) => `  ${installLines[shell]}`);
  return verb('completion', {
    summary: 'Print the script that completes svc in your shell: verbs, options, tickets, runs, topics, keys',
    example: ['svc completion bash', 'svc completion fish'],
  })
    .addArgument(createArgument('<shell>', 'your shell').choices(shells))
    .addHelpText(
      'after',
      [
        '',
        'Install it once, with svc in PATH; it asks svc at every Tab, so that it never grows old:',
        ...installs,
      ].join('\n'),
    )
    .action((shell) => terminal.out(completionScript(shell).trimEnd()));
}
