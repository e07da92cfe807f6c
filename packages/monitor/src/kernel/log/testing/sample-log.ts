// A log for tests: drafts, a clock that the test sets, and the log's files read the simple way.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventDraft, EventFields, EventLine } from '../event-line.ts';
import { type EventLogOptions, openEventLog } from '../event-log.ts';
import type { LogNotice } from '../log-notice.ts';

export const START = Date.UTC(2026, 10, 15, 12);
export const host = { id: 'host-1', name: 'laptop' };

export type TestClock = { now: () => number; time: number };

export function createTestClock(time = START): TestClock {
  const clock = { time, now: () => clock.time };
  return clock;
}

/** Ids that are unique across restarts. */
export function createTestIds(prefix = crypto.randomUUID().slice(0, 8)): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count}`;
  };
}

/** The log does not read details, so those in its tests may contain anything. */
export function draft(changes: Partial<EventFields> = {}): EventDraft {
  return {
    event: 'codehost.push',
    source: 'codehost.webhook',
    via: 'live',
    scope: { repo: 'acme/shop' },
    detail: {},
    ...changes,
  } as EventDraft;
}

export function openTestLog(folder: string, options: Partial<EventLogOptions> = {}) {
  const notices: LogNotice[] = [];
  const log = openEventLog({
    eventsFolder: join(folder, 'events'),
    databaseFile: join(folder, 'svc.db'),
    clock: { now: () => Date.now() },
    host,
    newId: createTestIds(),
    onNotice: (notice) => notices.push(notice),
    ...options,
  });
  return Object.assign(log, { notices });
}

/** Every line of every month file; throws if anything in them is not a line. */
export function readAllLines(eventsFolder: string): EventLine[] {
  const files = readdirSync(eventsFolder).filter((name) => name.endsWith('.jsonl'));
  return files.toSorted().flatMap((name) => {
    const text = readFileSync(join(eventsFolder, name), 'utf8');
    if (text !== '' && !text.endsWith('\n')) throw new Error(`${name} ends in the middle of a line`);
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as EventLine);
  });
}

/** The text of a line, with a second of time per `seq`. */
export function lineText(seq: number, text = '', changes: Partial<EventLine> = {}): string {
  const ts = new Date(START + seq * 1000).toISOString();
  return JSON.stringify({
    seq,
    ts,
    id: `id-${seq}`,
    schemaVersion: 1,
    host,
    ...draft({ detail: { text } }),
    ...changes,
  });
}
