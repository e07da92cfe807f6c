// Records that were refused, counted by reason and machine for an hour. A record that a newer roster may explain is held:
// it is tried again with each roster, and counted when none came.
import type { StoredRecord } from '@svc/contract/relay/record';
import type { Logger } from 'pino';
import type { TeamStatus } from '../api.ts';
import type { RecordRefusal } from '../roster.ts';
import { parseStored, type Refused } from './records.ts';

const SHOWN_MS = 3_600_000;
const HELD_MS = 5_000;
const MOST = 2_000;
/** One old version may have been on its way while the newer one was written: two are counted. */
const LEAST: Partial<Record<RecordRefusal, number>> = { 'old-version': 2 };

export function createRefusals({ logger, now }: { logger: Logger; now: () => number }) {
  const counted = new Map<string, { reason: RecordRefusal; machine: string; count: number; at: number }>();
  const held = new Map<string, { stored: StoredRecord; reason: RecordRefusal; at: number }>();

  function count(reason: RecordRefusal, machine: string, at: number): void {
    const known = counted.get(`${reason} ${machine}`);
    if (known === undefined) logger.warn({ reason, machine }, 'a record of the team was refused');
    if (known === undefined && counted.size >= MOST) return;
    counted.set(`${reason} ${machine}`, { reason, machine, count: (known?.count ?? 0) + 1, at });
  }

  return {
    add({ refused: reason }: Refused, stored: StoredRecord): void {
      const mayBeExplained = reason === 'unknown-machine' || reason === 'wrong-epoch';
      if (mayBeExplained && held.size < MOST) held.set(stored.path, { stored, reason, at: now() });
      else count(reason, machineOf(stored), now());
    },
    /** Those that a roster may explain, to be tried again. */
    takeHeld(): StoredRecord[] {
      const records = [...held.values()].map(({ stored }) => stored);
      held.clear();
      return records;
    },
    /** `epoch` is the newest that this machine knows. */
    lately(epoch: number, nameOf: (machine: string) => string): TeamStatus['refused'] {
      for (const [path, { stored, reason, at }] of held) {
        // A key from before this machine joined: it becomes readable when its machine publishes again.
        const isEarlier = reason === 'wrong-epoch' && (parseStored(stored)?.body.epoch ?? 0) < epoch;
        if (isEarlier || now() - at < HELD_MS) continue;
        count(reason, machineOf(stored), at);
        held.delete(path);
      }
      return [...counted.values()]
        .filter(({ at, reason, count: times }) => now() - at < SHOWN_MS && times >= (LEAST[reason] ?? 1))
        .map((one) => ({ ...one, machine: nameOf(one.machine), at: new Date(one.at).toISOString() }));
    },
    clear(): void {
      counted.clear();
      held.clear();
    },
  };
}

function machineOf(stored: StoredRecord): string {
  return parseStored(stored)?.path.machine ?? 'unknown';
}
