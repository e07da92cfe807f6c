// The conditions of an event request, from its query. An empty condition is an error: a filter that is
// not applied would answer a question that nobody asked.
import { type EventFilter, parseSince, type Since, topicsOfGlob } from '@svc/core';
import { Failure } from '../errors.ts';
import type { CountQuery } from '../log/count-lines.ts';

const MAX_LIMIT = 1000;
const MAX_BUCKETS = 200;
const DEFAULT_BUCKETS = 60;
const DEFAULT_COUNTED_MS = 86_400_000;

/** `jq` is the text of a jq filter, which is applied to what meets the other conditions. */
export type StreamQuery = EventFilter & { since: Since | undefined; jq: string | undefined };
export type ListQuery = StreamQuery & {
  sha: string | undefined;
  orchestrator: string | undefined;
  until: Since | undefined;
  limit: number;
  order: 'oldest-first' | 'newest-first';
};

export function streamQuery(query: unknown, now: number): StreamQuery {
  const given = conditionsIn(query);
  return {
    ...filterOf(given),
    since: pointOf('since', given.get('since'), now),
    jq: given.get('filter'),
  };
}

/** `timeOf` is when a line was accepted, for who says from which line on. */
export function countQuery(
  query: unknown,
  now: number,
  timeOf: (seq: number) => number | undefined,
): CountQuery {
  const given = conditionsIn(query);
  const since = pointOf('since', given.get('since'), now) ?? { time: now - DEFAULT_COUNTED_MS };
  const until = pointOf('until', given.get('until'), now);
  const momentOf = (point: Since, otherwise: number): number =>
    'time' in point ? point.time : (timeOf(point.seq) ?? otherwise);
  const to = until === undefined ? now : momentOf(until, now);
  const from = momentOf(since, now - DEFAULT_COUNTED_MS);
  if (from > to) throw new Failure('usage', 'since: expected a moment before until.');
  return {
    ...filterOf(given),
    sha: given.get('sha'),
    orchestrator: given.get('orchestrator'),
    since,
    until,
    from,
    to: Math.max(to, from + 1),
    buckets: numberOf('buckets', given.get('buckets'), MAX_BUCKETS) ?? DEFAULT_BUCKETS,
  };
}

export function listQuery(query: unknown, now: number): ListQuery {
  const given = conditionsIn(query);
  const order = given.get('order') ?? 'newest-first';
  if (order !== 'oldest-first' && order !== 'newest-first')
    throw wrong('order', 'oldest-first or newest-first');
  return {
    ...filterOf(given),
    since: pointOf('since', given.get('since'), now),
    until: pointOf('until', given.get('until'), now),
    jq: given.get('filter'),
    sha: given.get('sha'),
    orchestrator: given.get('orchestrator'),
    limit: numberOf('limit', given.get('limit'), MAX_LIMIT) ?? 50,
    order,
  };
}

/** Those that a route does not have were refused before it was called. */
function conditionsIn(query: unknown): Map<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (typeof value !== 'string' || value === '') throw wrong(name, 'one value');
    given.set(name, value);
  }
  return given;
}

function filterOf(given: ReadonlyMap<string, string>): EventFilter {
  return {
    topics: topicsOf(given.get('event')),
    ticket: given.get('ticket')?.toUpperCase(),
    repo: given.get('repo'),
    pr: numberOf('pr', given.get('pr'), Number.MAX_SAFE_INTEGER),
  };
}

function topicsOf(glob: string | undefined): ReadonlySet<string> | undefined {
  if (glob === undefined) return undefined;
  const answer = topicsOfGlob(glob);
  if (!answer.ok) throw new Failure('usage', answer.message);
  return answer.topics;
}

function pointOf(name: string, text: string | undefined, now: number): Since | undefined {
  if (text === undefined) return undefined;
  const point = parseSince(text, now);
  if (point === undefined) throw wrong(name, 'a seq, an ISO time, or a duration like 15m');
  return point;
}

function numberOf(name: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 1 && number <= most) return number;
  throw wrong(name, `a whole number from 1 to ${most}`);
}

function wrong(name: string, expected: string): Failure {
  return new Failure('usage', `${name}: expected ${expected}.`);
}
