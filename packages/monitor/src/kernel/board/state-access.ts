// How routes use the state: they read the current board, or append an event and wait for its effect on the board.
import { within } from '@svc/lib/timeout';
import { Failure } from '../failure.ts';
import type { EventDraft } from '../log/event-line.ts';
import type { Board } from './board.ts';

/** A follower of the log; see `state/follow-state.ts`. */
export type StateAccess = {
  board: () => Board;
  reached: (seq: number) => Promise<void>;
  progress: () => { ready: boolean; seq: number; logSeq: number };
};

/** Resolves when the line is durable. */
export type Append = (draft: EventDraft) => Promise<{ seq: number }>;

const TIMEOUT_MS = 5_000;

/** A partly folded log would give wrong answers, so nothing is answered from it. */
export function boardOf(state: StateAccess): Board {
  const { ready, seq, logSeq } = state.progress();
  if (ready) return state.board();
  throw new Failure(
    'state-not-ready',
    `The log is still being read (line ${seq} of ${logSeq}).`,
    'Try again in a moment.',
  );
}

/** Appends an event and waits until the board has it; resolves to the event's seq. */
export async function appendAndWait(
  { state, append }: { state: StateAccess; append: Append },
  draft: EventDraft,
  timeoutMs = TIMEOUT_MS,
): Promise<number> {
  const { seq } = await append(draft);
  await within(state.reached(seq), timeoutMs, () => {
    throw new Failure(
      'state-not-ready',
      `Saved as event ${seq}, but the board has not caught up yet.`,
      'It takes effect on its own. Check again in a moment.',
    );
  });
  return seq;
}
