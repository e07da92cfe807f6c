// What routes know of the state: the board of now, and how to say something and see what came of it.

import type { Board, EventDraft } from '@svc/core';
import { within } from '@svc/lib/timeout';
import { Failure } from '../errors.ts';

/** A follower of the log; see `state/follow-state.ts`. */
export type StateAccess = {
  board: () => Board;
  reached: (seq: number) => Promise<void>;
  progress: () => { ready: boolean; seq: number; logSeq: number };
};

/** Resolves when the line is durable. */
export type Append = (draft: EventDraft) => Promise<{ seq: number }>;

const TIMEOUT_MS = 5_000;

/** Half of the log folded is half of the truth: nothing is answered from it. */
export function boardOf(state: StateAccess): Board {
  const { ready, seq, logSeq } = state.progress();
  if (ready) return state.board();
  throw new Failure(
    'state-not-ready',
    `The log is still being read (line ${seq} of ${logSeq}).`,
    'Wait a moment and ask again.',
  );
}

/** Appends a line and waits until the board has it; the answer is the line's seq. */
export async function say(
  { state, append }: { state: StateAccess; append: Append },
  draft: EventDraft,
  timeoutMs = TIMEOUT_MS,
): Promise<number> {
  const { seq } = await append(draft);
  await within(state.reached(seq), timeoutMs, () => {
    throw new Failure(
      'state-not-ready',
      `It is written down as line ${seq}, but the state has not come that far.`,
      'It takes effect by itself; look again in a moment.',
    );
  });
  return seq;
}
