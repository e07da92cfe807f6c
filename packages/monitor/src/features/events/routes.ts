// Events from the log: listed through the index, counted and streamed; and the events that helper scripts report.

import type { IncomingHttpHeaders } from 'node:http';
import { createLimit } from '@svc/lib/limit';
import { Failure } from '../../kernel/failure.ts';
import { momentIn, type Routes, route } from '../../kernel/http/route.ts';
import { createStreams } from '../../kernel/http/server.ts';
import { parseEventDraft } from '../../kernel/log/event-line.ts';
import type { EventLog } from '../../kernel/log/event-log.ts';
import type { JqThreads } from '../../kernel/log/jq-threads.ts';
import { api } from '../api.ts';
import { topics } from '../topics.ts';
import { appendHelperFact } from './io/append-helper-fact.ts';
import { streamEvents } from './io/event-stream.ts';
import { countQuery, filterOf, listFiltered, seqBefore } from './service.ts';

const MAX_STREAMS = 200;

/** Pages that are read at once: each may have several megabytes. */
const LISTS_AT_ONCE = 8;

/** Bytes that all streams together may hold for clients that have not read them yet. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;

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
      const parsed = parseEventDraft(topics, { source: 'cli', via: 'local', scope: {}, detail: {}, ...body });
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

function resumeAfter({ 'last-event-id': id }: IncomingHttpHeaders): number | undefined {
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}
