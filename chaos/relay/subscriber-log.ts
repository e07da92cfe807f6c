// The log of a small subscriber: one line per delivery id, each with the position up to which everything is in the log,
// synced in groups before the delivery counts as accepted. The newest line is the cursor.
import {
  closeSync,
  existsSync,
  fdatasync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type {
  ReceiverAnswer,
  TunnelDelivery,
} from '../../packages/monitor/src/features/feeds/io/delivery-service.ts';

export type SubscriberLine = { deliveryId: string; relay?: { channel: string; id: string } };

type Waiting = { line: string; resolve: (answer: ReceiverAnswer) => void; outcome: string };

export const logName = 'taken.jsonl';
/** One byte for every repeated delivery. */
export const duplicatesName = 'duplicates';

/** The complete lines in it, without an end torn by a kill. */
export function readSubscriberLog(folder: string): { lines: SubscriberLine[]; wholeBytes: number } {
  const file = join(folder, logName);
  if (!existsSync(file)) return { lines: [], wholeBytes: 0 };
  const bytes = readFileSync(file);
  const wholeBytes = bytes.lastIndexOf(0x0a) + 1;
  const text = bytes.toString('utf8', 0, wholeBytes);
  const lines = text.split('\n').slice(0, -1);
  return { lines: lines.map((line) => JSON.parse(line) as SubscriberLine), wholeBytes };
}

export function openSubscriberLog(folder: string) {
  mkdirSync(folder, { recursive: true });
  const { lines, wholeBytes } = readSubscriberLog(folder);
  const file = openSync(join(folder, logName), 'a');
  ftruncateSync(file, wholeBytes);
  const duplicates = openSync(join(folder, duplicatesName), 'a');
  process.once('exit', () => {
    closeSync(file);
    closeSync(duplicates);
  });
  const known = new Set(lines.map(({ deliveryId }) => deliveryId));
  const cursor = lines.findLast(({ relay }) => relay !== undefined)?.relay?.id ?? null;
  let queue: Waiting[] = [];
  let running = false;

  function commit(): void {
    const group = queue;
    queue = [];
    writeSync(file, group.map(({ line }) => line).join(''));
    fdatasync(file, (error) => {
      if (error) throw error;
      for (const { resolve, outcome } of group) resolve({ status: 200, outcome });
      running = queue.length > 0;
      if (running) commit();
    });
  }

  /** A repeated one waits too: the first may not be on disk yet. */
  function enqueue(line: string, outcome: string): Promise<ReceiverAnswer> {
    return new Promise((resolve) => {
      queue.push({ line, resolve, outcome });
      if (running) return;
      running = true;
      setImmediate(commit);
    });
  }

  return {
    cursor: () => cursor,
    receive({ headers, relay }: TunnelDelivery): Promise<ReceiverAnswer> {
      const deliveryId = String(headers['x-codehost-delivery']);
      if (known.has(deliveryId)) {
        writeSync(duplicates, '.');
        return enqueue('', 'duplicate');
      }
      known.add(deliveryId);
      const line: SubscriberLine = { deliveryId, ...(relay !== undefined && { relay }) };
      return enqueue(`${JSON.stringify(line)}\n`, 'accepted');
    },
  };
}
