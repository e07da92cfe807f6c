// A route of the daemon as data: what it is called with, what it answers, and by which codes it refuses. The routes
// themselves, the OpenAPI description and the typed client are all made from it.
import { z } from 'zod';
import { durationMs } from '../log/event-filter.ts';
import { safeSegment } from '../runs/signal-file.ts';
import type { ApiFailureCode } from './failures.ts';

/** The fields of a query, a body, a path or the headers, by name. */
export type ApiFields = z.ZodObject;

export type ApiRoute = {
  method: 'GET' | 'POST';
  /** A parameter stands in braces: `/api/runs/{run}`. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** The verbs of the command line that call it. */
  verbs?: readonly string[];
  params?: ApiFields;
  query?: ApiFields;
  headers?: ApiFields;
  body?: ApiFields;
  /** How the body is written; JSON unless said otherwise. */
  bodyTypes?: readonly string[];
  answer: z.ZodType;
  /** How the answer is written; JSON unless said otherwise. */
  answerType?: string;
  failures: readonly ApiFailureCode[];
  /** An error answer that is not of the usual shape, by its status. */
  otherFailures?: Readonly<Record<number, z.ZodType>>;
};

/** Keeps the types of the schemas, so that handlers and answers are checked by them. */
export function apiRoute<const Route extends ApiRoute>(route: Route): Route {
  return route;
}

/** What a route answers with. */
export type ApiAnswer<Route extends Pick<ApiRoute, 'answer'>> = z.output<Route['answer']>;

/** What a caller gives for a part of a request; undefined where the route has no such part. */
export type ApiGiven<Route, Part extends 'params' | 'query' | 'body'> = Route extends {
  [Key in Part]: infer Schema extends z.ZodType;
}
  ? z.input<Schema>
  : undefined;

/** A moment, ISO 8601. */
export const Time = z.iso.datetime({ offset: true });

const SEQ = 'expected the seq of a line';
/** The place of a line in the log. */
export const Seq = z.int(SEQ).nonnegative(SEQ);

/** A text of a request: not empty, and bounded. */
export function text(longest: number): z.ZodString {
  return z.string().min(1).max(longest);
}

/** A duration of a request, like 24h; handlers get milliseconds. */
export function duration(expected: string, { least = 0, most = Number.POSITIVE_INFINITY } = {}) {
  const message = `expected ${expected}`;
  return z.string(message).transform((given, context) => {
    const milliseconds = durationMs(given);
    if (milliseconds !== undefined && milliseconds >= least && milliseconds <= most) return milliseconds;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** The name of a run, where it becomes part of a path. */
export const RunName = z.string().refine(safeSegment, 'expected the name of a run');

export const noFields = z.strictObject({});
export const by = text(100).prefault('a person').describe('who says it; default: a person');
export const TICKET = 'expected a ticket like ABC-12';
export const TicketParams = z.strictObject({
  ticket: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/, TICKET)
    .describe('like ABC-12'),
});
export const OfRun = {
  orchestrator: text(120).optional().describe('the worker of this run; default: the newest'),
};
