import type { EventLine } from '@svc/core';

/** What was asked for and what came since, each line once, the newest first. */
export function newestLines(
  asked: readonly EventLine[],
  came: readonly EventLine[],
  most: number,
): EventLine[] {
  const bySeq = new Map([...asked, ...came].map((line) => [line.seq, line]));
  return [...bySeq.values()].toSorted((one, other) => other.seq - one.seq).slice(0, most);
}
