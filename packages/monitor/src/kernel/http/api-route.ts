// A route of the daemon as data: its request, its answer and its failure codes. The routes, the OpenAPI document and the
// typed client are all built from it.
import { safeSegment } from '@svc/contract/signal-file';
import { z } from 'zod';
import { durationMs } from '../log/event-filter.ts';
import type { ApiFailureCode } from './failures.ts';

/** The fields of a query, a body, a path or the headers, by name. */
export type ApiFields = z.ZodObject;

export type ApiRoute = {
  method: 'GET' | 'POST';
  /** Parameters are in braces: `/api/runs/{run}`. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** The CLI commands that call it. */
  verbs?: readonly string[];
  params?: ApiFields;
  query?: ApiFields;
  headers?: ApiFields;
  body?: ApiFields;
  /** Content types of the body; default: JSON. */
  bodyTypes?: readonly string[];
  answer: z.ZodType;
  /** Content type of the answer; default: JSON. */
  answerType?: string;
  failures: readonly ApiFailureCode[];
  /** Error answers of another shape, by status. */
  otherFailures?: Readonly<Record<number, z.ZodType>>;
};

/** Keeps the types of the schemas, which handlers and answers are checked against. */
export function apiRoute<const Route extends ApiRoute>(route: Route): Route {
  return route;
}

/** The answer of a route. */
export type ApiAnswer<Route extends Pick<ApiRoute, 'answer'>> = z.output<Route['answer']>;

/** What a caller passes for a part of a request; undefined when the route has no such part. */
export type ApiGiven<Route, Part extends 'params' | 'query' | 'body'> = Route extends {
  [Key in Part]: infer Schema extends z.ZodType;
}
  ? z.input<Schema>
  : undefined;

/** A time, ISO 8601. */
export const Time = z.iso.datetime({ offset: true });

const SEQ = 'expected the seq of an event';
/** The position of an event in the log. */
export const Seq = z.int(SEQ).nonnegative(SEQ);

/** A text in a request: not empty, and limited in length. */
export function text(longest: number): z.ZodString {
  return z.string().min(1).max(longest);
}

/** A duration in a request, like 24h; handlers get milliseconds. */
export function duration(expected: string, { least = 0, most = Number.POSITIVE_INFINITY } = {}) {
  const message = `expected ${expected}`;
  return z.string(message).transform((given, context) => {
    const milliseconds = durationMs(given);
    if (milliseconds !== undefined && milliseconds >= least && milliseconds <= most) return milliseconds;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** A run name that becomes part of a file path. */
export const RunName = z.string().refine(safeSegment, 'expected the name of a run');

export const noFields = z.strictObject({});
export const by = text(100).prefault('a person').describe('who does this; default: a person');
export const TICKET = 'expected a ticket like ABC-12';
export const TicketParams = z.strictObject({
  ticket: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/, TICKET)
    .describe('like ABC-12'),
});
export const OfRun = {
  orchestrator: text(120).optional().describe('the agent of this run; default: the newest'),
};
