// The event log: list, count and stream events, and append events of helpers.
import { z } from 'zod';
import { apiRoute, Seq } from '../../kernel/http/api-route.ts';
import { EventCounts } from '../../kernel/log/event-counts.ts';
import { EventFields, EventLine as EventLineSchema } from '../../kernel/log/event-line.ts';

const EventLine = EventLineSchema.meta({ id: 'EventLine' });

const POINT = 'a seq, an ISO time, or how long ago, like 15m';

/** An empty condition is refused: ignoring it would return events that were not asked for. */
const given = z.string().min(1).optional();

const conditions = {
  event: given.describe('a topic, or a glob of topics: codehost.pr.*'),
  ticket: given,
  repo: given.describe('owner/name'),
  pr: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
  since: given.describe(`${POINT}; events after it`),
};

const more = {
  sha: given.describe('a commit'),
  orchestrator: given.describe('a run'),
  until: given.describe(`${POINT}; events before it`),
};

const filter = given.describe('a jq filter; events for which it returns true match');

const EventPage = z
  .object({
    events: z.array(EventLine),
    next: Seq.nullable().describe('Pass as `until` or `since` for the next page; null on the last page'),
    indexedTo: Seq.describe('The last indexed event'),
    scanned: z.int().describe('How many events were read'),
  })
  .meta({ id: 'EventPage' });

/** Defaults for what a helper leaves out: source `cli`, via `local`, an empty scope. */
const HelperFact = EventFields.partial({ source: true, via: true, scope: true, detail: true }).strict();

const filtered = ['usage', 'filter-too-slow', 'filter-too-large', 'busy'] as const;

export const eventRoutes = {
  listEvents: apiRoute({
    method: 'GET',
    path: '/api/events',
    tag: 'events',
    summary: 'List matching events, page by page',
    verbs: ['svc events list'],
    query: z.strictObject({
      ...conditions,
      filter,
      ...more,
      limit: z.int().min(1).max(1_000).default(50).describe('default: 50'),
      order: z
        .enum(['oldest-first', 'newest-first'])
        .default('newest-first')
        .describe('default: newest-first'),
    }),
    answer: EventPage,
    failures: filtered,
  }),
  countEvents: apiRoute({
    method: 'GET',
    path: '/api/events/counts',
    tag: 'events',
    summary: 'Count events over time, by topic family',
    verbs: ['svc events counts'],
    query: z.strictObject({
      ...conditions,
      ...more,
      buckets: z.int().min(1).max(200).default(60).describe('how many buckets; default: 60'),
    }),
    answer: EventCounts,
    failures: ['usage'],
  }),
  streamEvents: apiRoute({
    method: 'GET',
    path: '/api/events/stream',
    tag: 'events',
    summary: 'Stream events as they become durable (server-sent events)',
    description:
      'Unnamed messages are events: `id` is the seq, `data` the event as JSON (EventLine). Named messages: `ready` ({after}), `position` (how far a filter has read without a match), `disconnected` ({resumeAfter}: the client was too slow) and `filter-failed` (a failure). A comment is sent every 15 seconds. A client that reconnects with Last-Event-ID resumes without a gap.',
    verbs: ['svc events tail', 'svc events wait-for'],
    query: z.strictObject({ ...conditions, filter }),
    headers: z.strictObject({
      'Last-Event-ID': Seq.optional().describe('the last event received; overrides `since`'),
    }),
    answer: z.string(),
    answerType: 'text/event-stream',
    failures: filtered,
  }),
  reportEvent: apiRoute({
    method: 'POST',
    path: '/api/events',
    tag: 'events',
    summary: 'Append an event of a helper to the log',
    description:
      'The answer is sent once the event is durable. Topics that only a delivery, the daemon or a person may write are refused, and so is a run with a project: use POST /api/runs to start one.',
    verbs: [
      'svc events append',
      'svc add-finding',
      'svc findings drain',
      'svc archive sweep',
      'svc archive prune',
      'svc archive restore',
    ],
    body: HelperFact,
    answer: z.object({
      ok: z.literal(true),
      event: z.string().optional(),
      duplicate: z.literal(true).optional().describe('The log already has this event'),
      id: z.string(),
      seq: Seq,
    }),
    failures: ['usage', 'log-not-writable'],
  }),
  reindexEvents: apiRoute({
    method: 'POST',
    path: '/api/events/reindex',
    tag: 'events',
    summary: 'Rebuild the index from the log files',
    verbs: ['svc events reindex'],
    body: z.strictObject({
      acceptMissing: z
        .boolean()
        .default(false)
        .describe('Accept that events missing from the log are lost: health stops reporting them'),
    }),
    answer: z.object({ ok: z.literal(true), lines: Seq, seconds: z.number() }),
    failures: ['usage'],
  }),
};
