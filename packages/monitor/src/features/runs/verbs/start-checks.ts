// What the verbs that start a run share: options, and what is missing.
import type { Answer } from '@svc/client';
import { onOneLine } from '../../../cli/kit/print.ts';
import { AnswerIsNo, paint, printJson, type Terminal } from '../../../cli/kit/terminal.ts';

export const modelOption = ['--model <name>', 'model of the agent'] as const;
export const modeOption = ['--mode <name>', 'permission mode of the agent'] as const;
export const baseOption = ['--base <branch>', 'branch to create worktrees from'] as const;
export const checkOption = ['--check', 'list what is missing; start nothing'] as const;

type Preflight = Answer<'POST', '/api/runs/preflight'>;

/** Exit code 1 when something is missing. */
export function printPreflight(terminal: Terminal, json: true | undefined, answer: Preflight): void {
  const { ready, missing, notes } = answer;
  if (json) printJson(terminal, answer);
  else {
    terminal.out(ready ? 'Ready: nothing is missing.' : 'Not ready:');
    for (const { problem, remedy } of missing) {
      terminal.out(`  ${paint(terminal, 'red', onOneLine(problem))}`);
      if (remedy !== '') terminal.out(`    ${onOneLine(remedy)}`);
    }
    printNotes(terminal, notes);
  }
  if (!ready) throw new AnswerIsNo();
}

export function printNotes(terminal: Terminal, notes: Preflight['notes']): void {
  for (const { problem, remedy } of notes) terminal.err(`Note: ${onOneLine(`${problem} ${remedy}`.trim())}`);
}
