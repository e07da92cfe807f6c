// svc completion
import { type CommandUnknownOpts, createArgument } from '@commander-js/extra-typings';
import type { Terminal } from '../kit/terminal.ts';
import { verb } from '../kit/verb.ts';
import { completionScript, installLines, shells } from './scripts.ts';

export function completionVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('completion', {
    summary: 'Print the completion script for your shell',
    details: [
      'Completes verbs, options, tickets, runs, topics and keys. Install it once, with svc in PATH; it calls svc at every Tab, so it never goes out of date:',
      ...shells.flatMap((shell) => installLines[shell].map((line) => `  ${line}`)),
    ].join('\n'),
    example: ['svc completion bash', 'svc completion fish'],
  })
    .addArgument(createArgument('<shell>', 'your shell').choices(shells))
    .action((shell) => terminal.out(completionScript(shell).trimEnd()));
}
