// A task that a person describes instead of naming a ticket. It becomes a ticket: of the tracker, or a local one that only
// svc knows. Title and text of a local ticket are in the log.
import { visibleText } from '@svc/lib/visible-text';
import { titleOf } from '../findings/findings.ts';

/** Characters. The line of a task always fits into the log as a whole: none takes more than three bytes there. */
export const LONGEST_TASK = 20_000;

export type TicketWords = { title: string; body: string };

/** The first line is the title, the rest the body. What is invisible is written out. */
export function readTask(
  text: string,
): ({ ok: true } & TicketWords) | { ok: false; problem: string; remedy: string } {
  // Longer first: what is cut or escaped later must not make the check cheaper to pass.
  if (text.length > LONGEST_TASK)
    return {
      ok: false,
      problem: `The text of the task has ${text.length} characters; at most ${LONGEST_TASK} are allowed.`,
      remedy: 'Put the rest into a file of the repository, and name the file in the text.',
    };
  const [first = '', ...rest] = visibleText(text).trim().split('\n');
  const title = titleOf(first);
  const body = title === first.trim() ? rest.join('\n').trim() : [first, ...rest].join('\n').trim();
  if (title !== '' && body.length <= LONGEST_TASK) return { ok: true, title, body };
  return {
    ok: false,
    problem:
      title === '' ? 'The task has no text.' : 'The text of the task has too many invisible characters.',
    remedy: 'Describe what should be done: svc run "Make the login test pass on slow machines"',
  };
}

/** `T`, or another prefix if the tickets of a project begin with it. */
export function localPrefix(taken: readonly (string | undefined)[]): string {
  const used = new Set(taken.map((prefix) => prefix?.toUpperCase()));
  return ['T', 'TASK', 'LOCAL'].find((prefix) => !used.has(prefix)) ?? 'SVC';
}

/** The run of a task: the same name whenever it is asked for, so it is started once. */
export function runOfTask({ ticket, seq }: Pick<Task, 'ticket' | 'seq'>): string {
  return `${ticket ?? 'task'}-${seq}`;
}

import type { Last } from '../../kernel/board/board.ts';

/** `filingAt`: its ticket may have been created since. */
export type Task = {
  key: string;
  /** The line that asked for it. */
  seq: number;
  title: string;
  /** Kept for a local ticket; otherwise until the tracker has it. */
  body: string;
  local: boolean;
  project: string;
  base: string | null;
  agent: string | null;
  model: string | null;
  mode: string | null;
  by: string;
  ticket: string | null;
  url: string | null;
  state: 'requested' | 'filed' | 'started' | 'refused';
  filingAt: string | null;
  /** Why no run was started, and the fix. */
  reason: string | null;
  remedy: string | null;
} & Last;
