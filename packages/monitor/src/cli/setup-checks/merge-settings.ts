// Whether the code host enforces what a merge needs. Nothing is changed there, and nothing of it stops the work.
import { codehostProblemWords, mergeFindings, passesByItself, type SetupFinding } from '@svc/core';
import { createGh } from '../../codehost/gh.ts';
import { readMergeFacts } from '../../codehost/merge-facts.ts';
import { runCommand } from '../../codehost/run-command.ts';
import type { Terminal } from '../terminal.ts';

export async function checkMergeSettings(terminal: Terminal, repo: string): Promise<SetupFinding[]> {
  const { environment, now } = terminal;
  const gh = createGh({ environment, run: runCommand, now: () => now().getTime() });
  const facts = await readMergeFacts(gh, repo);
  if (facts.ok) return mergeFindings(facts.value);
  const { why, remedy: lasting } = codehostProblemWords(facts.problem);
  const remedy = passesByItself(facts.problem) ? 'Look again later: check-project-setup.sh' : lasting;
  const found = `${repo}: the merge settings cannot be read: ${why}`;
  return [{ check: 'merge-settings', level: 'warning', found, remedy }];
}
