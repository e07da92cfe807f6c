// A page of lines that a jq filter wants. The index finds candidates, jq decides, batch by batch; a filter that wants
// almost nothing is not followed through the whole log: the page ends, and says where to go on.
import { type EventLog, PAGE_BYTES } from '../log/event-log.ts';
import type { JqThreads } from '../log/jq-threads.ts';
import type { LogEntry } from '../log/log-entry.ts';
import type { ListQuery } from './event-query.ts';

const BATCH = 256;
const MOST_SCANNED = 20_000;
const ENOUGH_MS = 2_000;

type FilteredPage = { entries: LogEntry[]; next: number | null; indexedTo: number; scanned: number };

export async function listFiltered(
  log: Pick<EventLog, 'list'>,
  jq: Pick<JqThreads, 'matches'>,
  query: ListQuery,
  text: string,
): Promise<FilteredPage> {
  // Also where no line is looked at, a filter that is none is refused.
  await jq.matches(text, []);
  const began = performance.now();
  const entries: LogEntry[] = [];
  let scanned = 0;
  let bytes = 0;
  let from = query;
  for (;;) {
    const page = await log.list({ ...from, limit: BATCH });
    const answers = await jq.matches(
      text,
      page.entries.map((entry) => entry.text),
    );
    for (const [index, entry] of page.entries.entries()) {
      scanned += 1;
      if (answers[index] !== true) continue;
      entries.push(entry);
      bytes += entry.length;
      if (entries.length < query.limit && bytes < PAGE_BYTES) continue;
      const isEnd = page.next === null && index === page.entries.length - 1;
      return { entries, next: isEnd ? null : entry.line.seq, indexedTo: page.indexedTo, scanned };
    }
    const { next, indexedTo } = page;
    if (next === null || scanned >= MOST_SCANNED || performance.now() - began > ENOUGH_MS)
      return { entries, next, indexedTo, scanned };
    from = { ...query, [query.order === 'oldest-first' ? 'since' : 'until']: { seq: next } };
  }
}
