// Lines as the files that the log keeps them in: one for each month, before a daemon starts.
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EventLine } from '@svc/core';

const BATCH = 2_000;

/** The lines come in the order of their seq. */
export function writeMonthFiles(eventsDir: string, lines: Iterable<EventLine>): { lines: number } {
  mkdirSync(eventsDir, { recursive: true, mode: 0o700 });
  let month = '';
  let batch: string[] = [];
  let written = 0;
  const flush = (): void => {
    if (batch.length > 0) appendFileSync(join(eventsDir, `${month}.jsonl`), batch.join(''), { mode: 0o600 });
    written += batch.length;
    batch = [];
  };
  for (const line of lines) {
    const itsMonth = line.ts.slice(0, 7);
    if (itsMonth !== month || batch.length === BATCH) flush();
    month = itsMonth;
    batch.push(`${JSON.stringify(line)}\n`);
  }
  flush();
  return { lines: written };
}
