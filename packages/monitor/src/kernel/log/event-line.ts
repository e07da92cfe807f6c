// One accepted event as stored in the log: one JSON object per line, at most 64 KiB.
// The daemon is the only writer; `seq` is the cursor of every reader.
import { ownMessages, problemIn } from '@svc/contract/expected';
import { z } from 'zod';
import type { DetailOf, Topic, TopicTable } from './topics.ts';

const EVENT_SCHEMA_VERSION = 1;
export const MAX_EVENT_LINE_BYTES = 64 * 1024;

const EventSource = z.enum([
  'codehost.webhook',
  'codehost.poll',
  'tracker.webhook',
  'tracker.poll',
  'orchestrator',
  'monitor',
  'cli',
]);

/** How the event reached the daemon. */
export const EventVia = z.enum(['live', 'replay', 'poll', 'local']);

/** What the event is about: everything known, so that all events of one subject can be found. */
export const EventScope = z.object({
  repo: z.string().optional().describe('owner/name'),
  pr: z.int().optional(),
  ticket: z.string().optional(),
  orchestrator: z.string().optional(),
  worker: z.string().optional(),
  session: z.string().optional().describe('<agent>/<its session id>, of an agent that a person started'),
  branch: z.string().optional(),
  sha: z.string().optional(),
  mergeSha: z.string().optional(),
  ref: z.string().optional(),
  environment: z.string().optional(),
  deploymentId: z.int().optional(),
});

/** Who caused it upstream, to distinguish our own writes from a person's. */
export const EventActor = z.object({ login: z.string(), type: z.string().optional() });

/** The relay's own position of a delivery; the newest per channel is the tunnel's cursor. */
const RelayPosition = z.object({ channel: z.string(), id: z.string() });

/** The fields of an event before the writer adds position, time, id and host. */
export const EventFields = z.object({
  event: z.string(),
  source: EventSource,
  via: EventVia,
  deliveryId: z.string().optional(),
  signed: z.string().optional().describe('fingerprint of the signature: equal for equal bytes'),
  repeatOf: z
    .int()
    .positive()
    .optional()
    .describe('the event with the same signed bytes under another delivery id; nothing reacts to this one'),
  occurredAt: z.iso.datetime({ offset: true }).optional(),
  relay: RelayPosition.optional(),
  scope: EventScope,
  actor: EventActor.optional(),
  reporter: z
    .literal('helper')
    .optional()
    .describe('set by the daemon when a program of the user reported the event'),
  detail: z.record(z.string(), z.unknown()),
});

export const EventHost = z.object({ id: z.string(), name: z.string() });

export const EventLine = EventFields.extend({
  seq: z.int().positive(),
  ts: z.iso
    .datetime()
    .describe(
      'when the daemon accepted it, UTC with milliseconds. Order by `seq`: if the clock was ahead, a later event can have an earlier time',
    ),
  id: z.string(),
  schemaVersion: z.literal(EVENT_SCHEMA_VERSION),
  host: EventHost,
});

type EventSource = z.infer<typeof EventSource>;
export type EventVia = z.infer<typeof EventVia>;
export type EventScope = z.infer<typeof EventScope>;
export type EventActor = z.infer<typeof EventActor>;
export type EventFields = z.infer<typeof EventFields>;
export type EventHost = z.infer<typeof EventHost>;
/** A line as read from disk: its detail is unchecked JSON, see `typed-line.ts`. */
export type EventLine = z.infer<typeof EventLine>;

export type DraftOf<Name extends Topic> = Omit<EventFields, 'event' | 'detail'> & {
  event: Name;
  detail: DetailOf<Name>;
};

/** What a producer appends to the log: the detail must match the topic. */
export type EventDraft = { [Name in Topic]: DraftOf<Name> }[Topic];

/** The topic and detail of a line, without its source and scope. */
export type EventContent = { [Name in Topic]: Pick<DraftOf<Name>, 'event' | 'detail'> }[Topic];

/**
 * An event from this machine, with the daemon as its source unless `more` sets another.
 *
 *     draft('orchestrator.wave.started', { orchestrator }, { wave: 1, tickets })
 */
export function draft<Name extends Topic>(
  event: Name,
  scope: EventScope,
  detail: DetailOf<Name>,
  more: Partial<Omit<EventFields, 'event' | 'scope' | 'detail'>> = {},
): DraftOf<Name> {
  return { event, source: 'monitor', via: 'local', scope, detail, ...more };
}

// Validates an event: the base fields, a topic of the closed list, and the detail of that topic.

type ParsedLine = { ok: true; line: EventLine } | { ok: false; problem: string };
type ParsedDraft = { ok: true; draft: EventDraft } | { ok: false; problem: string };

/** Unknown fields in the detail are kept: a newer version may have written them. */
export function parseEventLine(topics: TopicTable, value: unknown): ParsedLine {
  const base = EventLine.safeParse(value, ownMessages);
  if (!base.success) return { ok: false, problem: problemIn(EventLine, base.error) };
  const problem = detailProblem(topics, base.data);
  return problem === undefined ? { ok: true, line: base.data } : { ok: false, problem };
}

/** The same for a draft that a producer appends. */
export function parseEventDraft(topics: TopicTable, value: unknown): ParsedDraft {
  const base = EventFields.safeParse(value, ownMessages);
  if (!base.success) return { ok: false, problem: problemIn(EventFields, base.error) };
  if (isDraft(topics, base.data)) return { ok: true, draft: base.data };
  return { ok: false, problem: detailProblem(topics, base.data) ?? 'not an event' };
}

function isDraft(topics: TopicTable, fields: EventFields): fields is EventDraft {
  return detailProblem(topics, fields) === undefined;
}

function detailProblem(topics: TopicTable, event: EventFields): string | undefined {
  if (!topics.has(event.event)) return unknownTopic(topics, event.event);
  if (wasCutWhole(event.detail)) return undefined;
  const schema = topics.schemaOf(event.event);
  const detail = schema.safeParse(event.detail, ownMessages);
  return detail.success ? undefined : `detail.${problemIn(schema, detail.error)}`;
}

function wasCutWhole(detail: EventFields['detail']): boolean {
  return Array.isArray(detail['cut']) && detail['cut'][0] === 'detail';
}

function unknownTopic(topics: TopicTable, text: string): string {
  const suggestion = topics.suggest(text);
  const hint = suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
  return `event: ${JSON.stringify(text.slice(0, 100))} is not a topic${hint}`;
}

// The event line as one schema with a variant per topic family: the source of the JSON Schema.
// Readers use parseEventLine, which is faster.

export function eventLineByTopic({ names: topics, schemaOf }: TopicTable): z.ZodType {
  const families = Map.groupBy(topics, schemaOf);
  const variants = [...families].map(([detail, names]) => EventLine.extend({ event: z.enum(names), detail }));
  return z.union(variants);
}
