// A log in memory, for tests that need only its lines: with `seq`, time and id, and nothing on disk.
import type { EventLine } from '../../log/event-line.ts';
import { createLiveTail } from '../../log/live-tail.ts';
import type { LogEntry } from '../../log/log-entry.ts';
import { draft, host, START } from '../../log/testing/sample-log.ts';

export type SmallLine = { ticket: string; ask?: number; broken?: boolean };

export function smallLines(lines: readonly SmallLine[], prefix = 'id'): EventLine[] {
  return lines.map(({ ticket, ask = 0, broken = false }, index) => ({
    seq: index + 1,
    ts: new Date(START + index * 500).toISOString(),
    id: `${prefix}-${index + 1}`,
    schemaVersion: 1,
    host,
    ...draft({ scope: { ticket }, detail: { ask, broken } }),
  }));
}

/** Holds all lines in its ring; `append` adds more. */
export function createSmallLog(lines: readonly EventLine[]) {
  const tail = createLiveTail({
    folder: '/nowhere',
    lastSeq: 0,
    maxLines: 100_000,
    maxBytes: Number.POSITIVE_INFINITY,
  });
  const append = (more: readonly EventLine[]): void => tail.push(more.map(toEntry));
  append(lines);
  /** Its lines are in the order of time. */
  const lastSeqAt = async (time: number): Promise<number> =>
    lines.findLast(({ ts }) => Date.parse(ts) <= time)?.seq ?? 0;
  return { subscribe: tail.subscribe, lastSeq: tail.lastSeq, lastSeqAt, append };
}

function toEntry(line: EventLine): LogEntry {
  const text = JSON.stringify(line);
  return { line, text, file: '2026-11.jsonl', offset: 0, length: text.length };
}
