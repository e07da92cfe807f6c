// Validates an event: the base fields, a topic of the closed list, and the detail of that topic.
import { z } from 'zod';
import { type EventDraft, EventFields, EventLine } from './event-line.ts';
import { detailSchemaFor, isTopic, suggestTopic, topics } from './topics.ts';

export type ParsedLine = { ok: true; line: EventLine } | { ok: false; problem: string };
export type ParsedDraft = { ok: true; draft: EventDraft } | { ok: false; problem: string };

/** Unknown fields in the detail are kept: a newer version may have written them. */
export function parseEventLine(value: unknown): ParsedLine {
  const base = EventLine.safeParse(value);
  if (!base.success) return { ok: false, problem: firstProblem(base.error) };
  const problem = detailProblem(base.data);
  return problem === undefined ? { ok: true, line: base.data } : { ok: false, problem };
}

/** The same for a draft that a producer appends. */
export function parseEventDraft(value: unknown): ParsedDraft {
  const base = EventFields.safeParse(value);
  if (!base.success) return { ok: false, problem: firstProblem(base.error) };
  if (isDraft(base.data)) return { ok: true, draft: base.data };
  return { ok: false, problem: detailProblem(base.data) ?? 'not an event' };
}

function isDraft(fields: EventFields): fields is EventDraft {
  return detailProblem(fields) === undefined;
}

function detailProblem(event: EventFields): string | undefined {
  if (!isTopic(event.event)) return unknownTopic(event.event);
  if (wasCutWhole(event.detail)) return undefined;
  const detail = detailSchemaFor(event.event).safeParse(event.detail);
  return detail.success ? undefined : `detail.${firstProblem(detail.error)}`;
}

function wasCutWhole(detail: EventFields['detail']): boolean {
  return Array.isArray(detail['cut']) && detail['cut'][0] === 'detail';
}

function unknownTopic(text: string): string {
  const suggestion = suggestTopic(text);
  const hint = suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
  return `event: ${JSON.stringify(text.slice(0, 100))} is not a topic${hint}`;
}

function firstProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'not an event';
  const path = z.core.toDotPath(issue.path);
  return path === '' ? issue.message : `${path}: ${issue.message}`;
}

// The event line as one schema with a variant per topic family: the source of the JSON Schema.
// Readers use parseEventLine, which is faster.

export function eventLineByTopic(): z.ZodType {
  const families = Map.groupBy(topics, (topic) => detailSchemaFor(topic) as z.ZodType);
  const variants = [...families].map(([detail, names]) => EventLine.extend({ event: z.enum(names), detail }));
  return z.union(variants);
}
