// Hands the effects of folded lines to the outbox, together with the cursor that says up to which line it
// has them: both in one transaction, so that a crash can neither lose an effect nor hand it over twice.
// Its modes:
// - working: what lines asked for is handed over a batch at a time.
// - failing: the outbox could not store a batch. It is tried again, ever less often; what lines ask for
//   meanwhile waits in memory, up to a bound at which whoever folds has to wait (`room`).
import { backoffMs, type Effect } from '@svc/core';
import { messageOf } from '@svc/lib/errors';

export type EffectTaker = {
  /** Stores the effects and the cursor, both or neither; throws when it cannot. */
  accept: (effects: readonly Effect[], cursor: number) => unknown;
  /** The last line whose effects are stored. */
  cursor: () => number;
};

export type HandOver = {
  add: (effects: readonly Effect[], seq: number) => void;
  /** Hands over what waits. Moves a cursor that has nothing to bring only now and then, unless it must. */
  flush: (must?: boolean) => void;
  /** Resolves when there is room for more effects. */
  room: () => Promise<void>;
  /** The last line whose effects are handed over. */
  cursor: () => number;
  backlog: () => number;
  failing: () => string | null;
  /** Tries once more what waits; what is refused then is derived from the log again at the next start. */
  stop: () => void;
};

/** Effects that may wait in memory. */
const MOST_WAITING = 4_096;
/** Lines without effects after which the cursor moves all the same: so many are folded twice at most. */
const IDLE_LINES = 1_024;

export function createHandOver({
  outbox,
  from,
  onFailure,
  mostWaiting = MOST_WAITING,
  retryMs = (failures) => backoffMs(failures, 0.5),
}: {
  outbox: Pick<EffectTaker, 'accept'>;
  from: number;
  /** Told of the first failure in a row. */
  onFailure: (error: unknown) => void;
  mostWaiting?: number;
  retryMs?: (failures: number) => number;
}): HandOver {
  let cursor = from;
  let waiting: Effect[] = [];
  let waitingTo = from;
  let failing: string | null = null;
  let failures = 0;
  let retry: NodeJS.Timeout | null = null;
  let stopped = false;
  let inRoom: (() => void)[] = [];

  function attempt(): void {
    retry = null;
    try {
      outbox.accept(waiting, waitingTo);
    } catch (error) {
      failing = messageOf(error);
      if (failures === 0) onFailure(error);
      if (!stopped) retry = setTimeout(attempt, retryMs(failures));
      failures += 1;
      return;
    }
    cursor = waitingTo;
    waiting = [];
    failing = null;
    failures = 0;
    for (const resolve of inRoom) resolve();
    inRoom = [];
  }

  return {
    add(effects, seq) {
      if (seq <= waitingTo) return;
      waiting.push(...effects);
      waitingTo = seq;
    },
    flush(must = false) {
      if (retry !== null || waitingTo === cursor) return;
      if (must || waiting.length > 0 || waitingTo - cursor >= IDLE_LINES) attempt();
    },
    room: () =>
      stopped || waiting.length < mostWaiting
        ? Promise.resolve()
        : new Promise((resolve) => inRoom.push(resolve)),
    cursor: () => cursor,
    backlog: () => waiting.length,
    failing: () => failing,
    stop() {
      stopped = true;
      if (retry !== null) clearTimeout(retry);
      if (waitingTo > cursor) attempt();
      for (const resolve of inRoom) resolve();
      inRoom = [];
    },
  };
}
