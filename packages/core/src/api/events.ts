// The event log: its lines by the index, how many there are, as they come; and facts of helpers.
import { z } from 'zod';
import { eventFamilies } from '../log/event-filter.ts';
import { EventFields, EventLine as EventLineSchema } from '../log/event-line.ts';
import { apiRoute, Seq, Time } from './route.ts';

const EventLine = EventLineSchema.meta({ id: 'EventLine' });

const POINT = 'a seq, an ISO time, or how long ago, like 15m';
/** An empty condition is refused: ignoring it would return lines that were not asked for. */
const given = z.string().min(1).optional();
const conditions = {
  event: given.describe('a topic, or a glob of topics: codehost.pr.*'),
  ticket: given,
  repo: given.describe('owner/name'),
  pr: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
  since: given.describe(`${POINT}; lines after it`),
};
const more = {
  sha: given.describe('a commit'),
  orchestrator: given.describe('a run'),
  until: given.describe(`${POINT}; lines before it`),
};
const filter = given.describe('a jq filter; true for the lines that are meant');

const EventPage = z
  .object({
    events: z.array(EventLine),
    next: Seq.nullable().describe('The seq to go on from, as `until` or `since`; null at the end'),
    indexedTo: Seq.describe('The last line that the index knows'),
    scanned: z.int().describe('How many lines were looked at'),
  })
  .meta({ id: 'EventPage' });

export type EventCounts = z.infer<typeof EventCounts>;
const EventCounts = z
  .object({
    from: Time,
    to: Time,
    bucketMs: z.number(),
    total: z.int(),
    buckets: z
      .array(
        z.object({
          at: Time,
          count: z.int(),
          families: z.partialRecord(z.enum(eventFamilies), z.int()),
        }),
      )
      .describe('Oldest first, without a gap'),
    indexedTo: Seq,
    complete: z.boolean().describe('False: counting took too long, and the oldest buckets are short'),
  })
  .meta({ id: 'EventCounts' });

/** What a helper leaves out is said for it: from `cli`, `local`, about nothing in particular. */
const HelperFact = EventFields.partial({ source: true, via: true, scope: true, detail: true }).strict();

const filtered = ['usage', 'filter-too-slow', 'filter-too-large', 'busy'] as const;

export const eventRoutes = {
  listEvents: apiRoute({
    method: 'GET',
    path: '/api/events',
    tag: 'events',
    summary: 'Lines of the log that meet conditions, a page at a time',
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
    summary: 'How many lines there are over time, by family of topic',
    verbs: ['svc events counts'],
    query: z.strictObject({
      ...conditions,
      ...more,
      buckets: z.int().min(1).max(200).default(60).describe('how many parts; default: 60'),
    }),
    answer: EventCounts,
    failures: ['usage'],
  }),
  streamEvents: apiRoute({
    method: 'GET',
    path: '/api/events/stream',
    tag: 'events',
    summary: 'Lines as they become durable, as server-sent events',
    description:
      'Frames without a name are lines: `id` is the seq, `data` the line as JSON (EventLine). Others are `ready` ({after}), `position` (the id of the newest line that the filter has read, while it lets nothing through), `disconnected` ({resumeAfter}: the reader was too slow) and `filter-failed` (a failure). A comment comes every 15 seconds. Whoever comes back with Last-Event-ID goes on without a gap.',
    verbs: ['svc events tail', 'svc events wait-for'],
    query: z.strictObject({ ...conditions, filter }),
    headers: z.strictObject({
      'Last-Event-ID': Seq.optional().describe('the last line seen; goes before `since`'),
    }),
    answer: z.string(),
    answerType: 'text/event-stream',
    failures: filtered,
  }),
  reportEvent: apiRoute({
    method: 'POST',
    path: '/api/events',
    tag: 'events',
    summary: 'A fact of a helper, for the log',
    description:
      'Answered when the line is durable. What only a delivery, the daemon or a person can tell is refused, and so is a run with a project: POST /api/runs begins one.',
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
      duplicate: z.literal(true).optional().describe('The log had it already'),
      id: z.string(),
      seq: Seq,
    }),
    failures: ['usage', 'log-not-writable'],
  }),
  reindexEvents: apiRoute({
    method: 'POST',
    path: '/api/events/reindex',
    tag: 'events',
    summary: 'Build the index anew from the files of the log',
    verbs: ['svc events reindex'],
    body: z.strictObject({
      acceptMissing: z
        .boolean()
        .default(false)
        .describe('Accept that lines which are missing from the log are gone: health reports them no more'),
    }),
    answer: z.object({ ok: z.literal(true), lines: Seq, seconds: z.number() }),
    failures: ['usage'],
  }),
};
