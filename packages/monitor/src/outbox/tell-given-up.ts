// An effect that was given up needs a person, and the log has to say so. The row remembers that it was not
// told yet, so that a kill between giving up and telling only delays it. Telling twice is the same as once.
import { retryWaitMs } from '@svc/core';
import { messageOf } from '../log/log-errors.ts';
import type { OutboxClock } from './attempt.ts';
import type { OutboxRow } from './outbox-row.ts';
import type { OutboxStore } from './outbox-store.ts';

export type GivenUpTeller = {
  /** Tells all that is untold, or joins the round that is under way. */
  tell: () => void;
  /** Stops telling, and resolves when the round that is under way has ended. */
  stop: () => Promise<void>;
};

export function createGivenUpTeller({
  store,
  clock,
  random,
  onGaveUp,
  onTrouble,
}: {
  store: Pick<OutboxStore, 'untold' | 'told'>;
  clock: OutboxClock;
  random: () => number;
  onGaveUp: (row: OutboxRow, error: string) => Promise<void>;
  /** Why telling fails, and null when it works. */
  onTrouble: (reason: string | null) => void;
}): GivenUpTeller {
  let round: Promise<void> | null = null;
  let again = false;
  let stopped = false;
  let failures = 0;
  let cancelRetry: (() => void) | null = null;

  async function tellAll(): Promise<void> {
    for (;;) {
      const [row] = stopped ? [] : store.untold(1);
      if (row === undefined) return;
      await onGaveUp(row, row.lastError ?? 'no reason known');
      store.told(row.key);
    }
  }

  async function run(): Promise<void> {
    try {
      await tellAll();
      failures = 0;
      onTrouble(null);
    } catch (error) {
      failures += 1;
      onTrouble(`an effect was given up and could not be told: ${messageOf(error)}`);
      if (!stopped) cancelRetry = clock.after(retryWaitMs(failures, random()), tell);
    }
  }

  function tell(): void {
    if (stopped) return;
    if (round !== null) {
      again = true;
      return;
    }
    cancelRetry?.();
    cancelRetry = null;
    round = run().finally(() => {
      round = null;
      if (!again) return;
      again = false;
      // After a failure its own timer goes on.
      if (failures === 0) tell();
    });
  }

  return {
    tell,
    async stop() {
      stopped = true;
      cancelRetry?.();
      await round;
    },
  };
}
