// Follows the log of a daemon from outside: how many deliveries have a line, and when each was accepted.
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

type LoggedDeliveries = {
  /** By number of the delivery id: the time of its line. */
  acceptedAt: ReadonlyMap<number, number>;
  again: number;
  /** The time of the newest line. */
  lastAt: number;
};

export type DaemonLog = {
  /** Forgets what was read so far. */
  forget: () => void;
  /** Until so many are in the log, or it has not grown for `patienceMs`. */
  wait: (count: number, patienceMs: number) => Promise<LoggedDeliveries>;
};

const idPattern = /"deliveryId":"00000000-0000-4000-8000-([0-9a-f]{12})"/;
const timePattern = /"ts":"([^"]+)"/;

export function followDaemonLog(eventsDir: string): DaemonLog {
  const read = new Map<string, { file: number; at: number; rest: string }>();
  let acceptedAt = new Map<number, number>();
  let again = 0;

  function look(): void {
    for (const name of readdirSync(eventsDir).filter((file) => file.endsWith('.jsonl'))) {
      const known = read.get(name) ?? { file: openSync(join(eventsDir, name), 'r'), at: 0, rest: '' };
      read.set(name, known);
      const chunk = Buffer.alloc(4 * 1024 * 1024);
      for (let bytes = readSync(known.file, chunk, 0, chunk.length, known.at); bytes > 0; ) {
        known.at += bytes;
        const lines = (known.rest + chunk.toString('latin1', 0, bytes)).split('\n');
        known.rest = lines.pop() ?? '';
        for (const line of lines) note(line);
        bytes = readSync(known.file, chunk, 0, chunk.length, known.at);
      }
    }
  }

  function note(line: string): void {
    const id = idPattern.exec(line)?.[1];
    if (id === undefined) return;
    const number = Number.parseInt(id, 16);
    if (acceptedAt.has(number)) again += 1;
    acceptedAt.set(number, Date.parse(timePattern.exec(line)?.[1] ?? ''));
  }

  process.once('exit', () => {
    for (const { file } of read.values()) closeSync(file);
  });
  return {
    forget() {
      look();
      acceptedAt = new Map();
      again = 0;
    },
    async wait(count, patienceMs) {
      let grewAt = performance.now();
      let before = -1;
      for (;;) {
        look();
        if (acceptedAt.size !== before) grewAt = performance.now();
        before = acceptedAt.size;
        if (acceptedAt.size >= count || performance.now() - grewAt > patienceMs) break;
        await sleep(5);
      }
      return {
        acceptedAt,
        again,
        lastAt: acceptedAt.values().reduce((last, time) => Math.max(last, time), 0),
      };
    },
  };
}
