// Reads events of the log for a request: what it asks for, a page that passes a jq filter, and counts.

import { Failure } from '../../kernel/failure.ts';
import { type Asked, momentIn } from '../../kernel/http/route.ts';
import type { CountQuery } from '../../kernel/log/count-lines.ts';
import { type EventFilter, type Since, topicsOfGlob } from '../../kernel/log/event-filter.ts';
import { type EventLog, PAGE_BYTES } from '../../kernel/log/event-log.ts';
import type { JqThreads } from '../../kernel/log/jq-threads.ts';
import type { LogEntry } from '../../kernel/log/log-entry.ts';
import type { api } from '../api.ts';
import { topics } from '../topics.ts';

const DEFAULT_COUNTED_MS = 86_400_000;

type Conditions = Pick<Asked<typeof api.streamEvents>['query'], 'event' | 'ticket' | 'repo' | 'pr'>;

export function filterOf({ event, ticket, repo, pr }: Conditions): EventFilter {
  return { topics: topicsOf(event), ticket: ticket?.toUpperCase(), repo, pr };
}

function topicsOf(glob: string | undefined): ReadonlySet<string> | undefined {
  if (glob === undefined) return undefined;
  const answer = topicsOfGlob(topics, glob);
  if (!answer.ok) throw new Failure('usage', answer.message);
  return answer.topics;
}

/** `timeOf` returns when an event was accepted, for a range given by event numbers. */
export function countQuery(
  asked: Asked<typeof api.countEvents>['query'],
  now: number,
  timeOf: (seq: number) => number | undefined,
): CountQuery {
  const since = momentIn('since', asked.since, now) ?? { time: now - DEFAULT_COUNTED_MS };
  const until = momentIn('until', asked.until, now);
  const timeAt = (point: Since, otherwise: number): number =>
    'time' in point ? point.time : (timeOf(point.seq) ?? otherwise);
  const to = until === undefined ? now : timeAt(until, now);
  const from = timeAt(since, now - DEFAULT_COUNTED_MS);
  if (from > to) throw new Failure('usage', 'since: expected a time before until.');
  const { sha, orchestrator, buckets } = asked;
  return { ...filterOf(asked), sha, orchestrator, since, until, from, to: Math.max(to, from + 1), buckets };
}

const BATCH = 256;

const MOST_SCANNED = 20_000;

const ENOUGH_MS = 2_000;

type ListQuery = Parameters<EventLog['list']>[0] & { limit: number };

type FilteredPage = { entries: LogEntry[]; next: number | null; indexedTo: number; scanned: number };

/**
 * A page of events that pass a jq filter. The index finds candidates and jq decides, batch by batch. A filter that
 * passes almost nothing does not scan the whole log: the page ends early and reports where to continue.
 */
export async function listFiltered(
  log: Pick<EventLog, 'list'>,
  jq: Pick<JqThreads, 'matches'>,
  query: ListQuery,
  text: string,
): Promise<FilteredPage> {
  // An invalid filter is refused even when there is no event to test.
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

/** The last event before a point; the stream continues after it. */
export async function seqBefore(log: EventLog, since: Since): Promise<number> {
  if ('seq' in since) return since.seq;
  const { entries } = await log.list({ since, order: 'oldest-first', limit: 1 });
  return (entries[0]?.line.seq ?? log.lastSeq() + 1) - 1;
}
