// What health shows of the outbox.
import type { OutboxStore } from './outbox-store.ts';

export type OutboxFigures = {
  started: 'fresh' | 'resumed';
  pending: number;
  running: number;
  oldestPendingMs: number | null;
  retryingCount: number;
  /** The first of those that have failed, with the reason. */
  retrying: { key: string; kind: string; attempts: number; error: string; nextAt: number }[];
  givenUp: number;
  /** Why the outbox itself cannot work at present. */
  failing: string | null;
};

const RETRYING_SHOWN = 20;

export function outboxFigures(
  store: OutboxStore,
  { running, failing, now }: { running: number; failing: string | null; now: number },
): OutboxFigures {
  const { pending, retrying, givenUp, oldestPendingAt } = store.counts();
  return {
    started: store.started,
    pending,
    running,
    oldestPendingMs: oldestPendingAt === null ? null : Math.max(0, now - oldestPendingAt),
    retryingCount: retrying,
    retrying: store.retrying(RETRYING_SHOWN).map(({ key, kind, attempts, lastError, nextAt }) => ({
      key,
      kind,
      attempts,
      error: lastError ?? '',
      nextAt,
    })),
    givenUp,
    failing,
  };
}
