// Lines of the log: found by the index, counted, and live; and the facts that helpers report.
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
import { createUnsentLimit } from './server.ts';

const MAX_STREAMS = 200;
/** Pages that are read at once: each may have some megabytes. */
const LISTS_AT_ONCE = 8;
/** What all streams together may hold that their clients have not taken. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;
const DEFAULT_COUNTED_MS = 86_400_000;

export function eventRoutes(options: {
  log: EventLog;
  jq: Pick<JqThreads, 'matches'>;
  now: () => number;
  maxUnsentBytes?: number;
}): Routes {
  const { log, jq, now, maxUnsentBytes = MAX_UNSENT_BYTES } = options;
  const open = new Set<AbortController>();
  /** Whoever is cut off comes back to where it was. */
  const unsent = createUnsentLimit(maxUnsentBytes);
  const atOnce = createLimit(LISTS_AT_ONCE);
  const pages: Pick<EventLog, 'list'> = { list: (query) => atOnce(() => log.list(query)) };
  return (app) => {
    // A stream never ends by itself; its client resumes at the next daemon.
    app.addHook('preClose', (closed) => {
      for (const stream of open) stream.abort();
      closed();
    });

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
      // What is wrong with a filter is said while there is still an answer to say it in.
      if (text !== undefined) await jq.matches(text, []);
      const matches = text === undefined ? undefined : (lines: string[]) => jq.matches(text, lines);
      const after =
        resumeAfter(reply.request.headers) ??
        (since === undefined ? log.lastSeq() : await seqBefore(log, since));
      // Nothing is waited for from here on, so that no two take the last place.
      if (open.size >= MAX_STREAMS)
        throw new Failure('busy', 'Too many streams are open.', 'Close one and try again.');
      reply.hijack();
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      open.add(gone);
      // The client may have left before: that is not said again.
      if (reply.raw.destroyed) gone.abort();
      try {
        await streamEvents({
          log,
          response: reply.raw,
          after,
          filter,
          matches,
          onSlow: () => unsent.note(reply.raw),
          signal: gone.signal,
        });
      } finally {
        open.delete(gone);
      }
      return reply;
    });

    route(app, api.reportEvent, async ({ body }) => {
      const parsed = parseEventDraft({ source: 'cli', via: 'local', scope: {}, detail: {}, ...body });
      if (!parsed.ok) throw new Failure('usage', `The event cannot be taken: ${parsed.problem}.`);
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

/** `timeOf` is when a line was accepted, for who says from which line on. */
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
  if (from > to) throw new Failure('usage', 'since: expected a moment before until.');
  const { sha, orchestrator, buckets } = asked;
  return { ...filterOf(asked), sha, orchestrator, since, until, from, to: Math.max(to, from + 1), buckets };
}

const BATCH = 256;
const MOST_SCANNED = 20_000;
const ENOUGH_MS = 2_000;

type ListQuery = Parameters<EventLog['list']>[0] & { limit: number };
type FilteredPage = { entries: LogEntry[]; next: number | null; indexedTo: number; scanned: number };

/**
 * A page of lines that a jq filter lets through. The index finds candidates, jq decides, batch by batch; a filter that
 * lets almost nothing through is not followed through the whole log: the page ends, and says where to go on.
 */
async function listFiltered(
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

/** The last line before a point: what comes after it is what was asked for. */
async function seqBefore(log: EventLog, since: Since): Promise<number> {
  if ('seq' in since) return since.seq;
  const { entries } = await log.list({ since, order: 'oldest-first', limit: 1 });
  return (entries[0]?.line.seq ?? log.lastSeq() + 1) - 1;
}

function resumeAfter({ 'last-event-id': id }: IncomingHttpHeaders): number | undefined {
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}
