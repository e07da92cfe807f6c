// GET /api/events and /api/events/counts (from the index), GET /api/events/stream (live), POST /api/events (facts of
// helpers), POST /api/events/reindex.

import { type ApiAnswer, api, parseEventDraft, type Since } from '@svc/core';
import { createLimit } from '@svc/lib/limit';
import type { FastifyPluginCallback, FastifyRequest } from 'fastify';
import { Failure } from '../errors.ts';
import { appendHelperFact, type EventLog } from '../log/event-log.ts';
import type { JqThreads } from '../log/jq-threads.ts';
import { countQuery, listQuery, streamQuery } from './event-query.ts';
import { streamEvents } from './event-stream.ts';
import { listFiltered } from './list-filtered.ts';
import { fieldsOf } from './request-fields.ts';
import { createUnsentLimit } from './server.ts';

const MAX_STREAMS = 200;
/** Pages that are read at once: each may have some megabytes. */
const LISTS_AT_ONCE = 8;
/** What all streams together may hold that their clients have not taken. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;

export function eventRoutes(options: {
  log: EventLog;
  jq: Pick<JqThreads, 'matches'>;
  now: () => number;
  maxUnsentBytes?: number;
}): FastifyPluginCallback {
  const { log, jq, now, maxUnsentBytes = MAX_UNSENT_BYTES } = options;
  const open = new Set<AbortController>();
  /** Whoever is cut off comes back to where it was. */
  const unsent = createUnsentLimit(maxUnsentBytes);
  const atOnce = createLimit(LISTS_AT_ONCE);
  const pages: Pick<EventLog, 'list'> = { list: (query) => atOnce(() => log.list(query)) };
  return (app, _options, done) => {
    // A stream never ends by itself; its client resumes at the next daemon.
    app.addHook('preClose', (closed) => {
      for (const stream of open) stream.abort();
      closed();
    });

    app.get('/api/events', async (request): Promise<ApiAnswer<typeof api.listEvents>> => {
      const query = listQuery(request.query, now());
      const page =
        query.jq === undefined ? await pages.list(query) : await listFiltered(pages, jq, query, query.jq);
      const { entries, next, indexedTo } = page;
      const scanned = 'scanned' in page && typeof page.scanned === 'number' ? page.scanned : entries.length;
      return { events: entries.map(({ line }) => line), next, indexedTo, scanned };
    });

    app.get(
      '/api/events/counts',
      (request): Promise<ApiAnswer<typeof api.countEvents>> =>
        log.counts(countQuery(request.query, now(), log.timeOf)),
    );

    app.get('/api/events/stream', async (request, reply) => {
      const { since, jq: text, ...filter } = streamQuery(request.query, now());
      // What is wrong with a filter is said while there is still an answer to say it in.
      if (text !== undefined) await jq.matches(text, []);
      const matches = text === undefined ? undefined : (lines: string[]) => jq.matches(text, lines);
      const after =
        resumeAfter(request) ?? (since === undefined ? log.lastSeq() : await seqBefore(log, since));
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
    });

    app.post('/api/events', async (request): Promise<ApiAnswer<typeof api.reportEvent>> => {
      const parsed = parseEventDraft({
        source: 'cli',
        via: 'local',
        scope: {},
        detail: {},
        ...asObject(request.body),
      });
      if (!parsed.ok) throw new Failure('usage', `The event cannot be taken: ${parsed.problem}.`);
      const { id, seq, duplicate } = await appendHelperFact(log, parsed.draft);
      return { ok: true, ...(duplicate ? { duplicate } : { event: parsed.draft.event }), id, seq };
    });

    app.post('/api/events/reindex', async (request): Promise<ApiAnswer<typeof api.reindexEvents>> => {
      const { acceptMissing = false } = fieldsOf(request.body, api.reindexEvents.body);
      if (typeof acceptMissing !== 'boolean')
        throw new Failure('usage', 'acceptMissing: expected true or false.');
      const started = performance.now();
      await log.reindex({ acceptMissing });
      return {
        ok: true,
        lines: log.lastSeq(),
        seconds: Math.round((performance.now() - started) / 100) / 10,
      };
    });
    done();
  };
}

/** The last line before a point: what comes after it is what was asked for. */
async function seqBefore(log: EventLog, since: Since): Promise<number> {
  if ('seq' in since) return since.seq;
  const { entries } = await log.list({ since, order: 'oldest-first', limit: 1 });
  return (entries[0]?.line.seq ?? log.lastSeq() + 1) - 1;
}

function resumeAfter(request: FastifyRequest): number | undefined {
  const id = request.headers['last-event-id'];
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}

function asObject(body: unknown): object {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new Failure('usage', 'The event must be a JSON object.');
}
