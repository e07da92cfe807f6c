// Events from the log: listed through the index, counted and streamed; and the events that helper scripts report.
import type { IncomingHttpHeaders } from 'node:http';
import { api, type EventFilter, parseEventDraft, type Since, topicsOfGlob } from '@svc/core';
import { createLimit } from '@svc/lib/limit';
import { Failure } from '../errors.ts';
import type { CountQuery } from '../log/count-lines.ts';
import { appendHelperFact, type EventLog, PAGE_BYTES } from '../log/event-log.ts';
import type { JqThreads } from '../log/jq-threads.ts';
import type { LogEntry } from '../log/log-entry.ts';
import { streamEvents } from './event-stream.ts';
import { type Asked, momentIn, type Routes, route } from './route.ts';
import { createStreams } from './server.ts';

const MAX_STREAMS = 200;
/** Pages that are read at once: each may have several megabytes. */
const LISTS_AT_ONCE = 8;
/** Bytes that all streams together may hold for clients that have not read them yet. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;
const DEFAULT_COUNTED_MS = 86_400_000;

export function eventRoutes(options: {
  log: EventLog;
  jq: Pick<JqThreads, 'matches'>;
  now: () => number;
  maxUnsentBytes?: number;
}): Routes {
  const { log, jq, now, maxUnsentBytes = MAX_UNSENT_BYTES } = options;
  const streams = createStreams({ most: MAX_STREAMS, maxUnsentBytes });
  const atOnce = createLimit(LISTS_AT_ONCE);
  const pages: Pick<EventLog, 'list'> = { list: (query) => atOnce(() => log.list(query)) };
  return (app) => {
    streams.endWith(app);

    route(app, api.listEvents, async ({ query: asked }) => {
      const { filter: text, sha, orchestrator, limit, order } = asked;
      const since = momentIn('since', asked.since, now());
      const until = momentIn('until', asked.until, now());
      const query = { ...filterOf(asked), sha, orchestrator, since, until, limit, order };
      const page = text === undefined ? await pages.list(query) : await listFiltered(pages, jq, query, text);
      const { entries, next, indexedTo } = page;
      const scanned = 'scanned' in page && typeof page.scanned === 'number' ? page.scanned : entries.length;
      return { events: entries.map(({ line }) => line), next, indexedTo, scanned };
    });

    route(app, api.countEvents, ({ query }) => log.counts(countQuery(query, now(), log.timeOf)));

    route(app, api.streamEvents, async ({ query }, reply) => {
      const since = momentIn('since', query.since, now());
      const filter = filterOf(query);
      const { filter: text } = query;
      // Reports a bad filter while the request can still get an error response.
      if (text !== undefined) await jq.matches(text, []);
      const matches = text === undefined ? undefined : (lines: string[]) => jq.matches(text, lines);
      const after =
        resumeAfter(reply.request.headers) ??
        (since === undefined ? log.lastSeq() : await seqBefore(log, since));
      await streamEvents({ log, stream: streams.open(reply), after, filter, matches });
      return reply;
    });

    route(app, api.reportEvent, async ({ body }) => {
      const parsed = parseEventDraft({ source: 'cli', via: 'local', scope: {}, detail: {}, ...body });
      if (!parsed.ok) throw new Failure('usage', `The event is not valid: ${parsed.problem}.`);
      const { id, seq, duplicate } = await appendHelperFact(log, parsed.draft);
      return { ok: true as const, ...(duplicate ? { duplicate } : { event: parsed.draft.event }), id, seq };
    });

    route(app, api.reindexEvents, async ({ body: { acceptMissing } }) => {
      const started = performance.now();
      await log.reindex({ acceptMissing });
      const seconds = Math.round((performance.now() - started) / 100) / 10;
      return { ok: true as const, lines: log.lastSeq(), seconds };
    });
  };
}

type Conditions = Pick<Asked<typeof api.streamEvents>['query'], 'event' | 'ticket' | 'repo' | 'pr'>;

function filterOf({ event, ticket, repo, pr }: Conditions): EventFilter {
  return { topics: topicsOf(event), ticket: ticket?.toUpperCase(), repo, pr };
}

function topicsOf(glob: string | undefined): ReadonlySet<string> | undefined {
  if (glob === undefined) return undefined;
  const answer = topicsOfGlob(glob);
  if (!answer.ok) throw new Failure('usage', answer.message);
  return answer.topics;
}

/** `timeOf` returns when an event was accepted, for a range given by event numbers. */
function countQuery(
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
async function listFiltered(
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
async function seqBefore(log: EventLog, since: Since): Promise<number> {
  if ('seq' in since) return since.seq;
  const { entries } = await log.list({ since, order: 'oldest-first', limit: 1 });
  return (entries[0]?.line.seq ?? log.lastSeq() + 1) - 1;
}

function resumeAfter({ 'last-event-id': id }: IncomingHttpHeaders): number | undefined {
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}
