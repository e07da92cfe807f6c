// Registers a route of the API's table. The request is read by the schemas that describe the route, so a handler gets
// typed values; what the description does not have is refused.
import {
  type ApiAnswer,
  type ApiFields,
  type ApiRoute,
  noFields,
  parseSince,
  readFields,
  readQuery,
  type Since,
} from '@svc/core';
import type { FastifyInstance, FastifyReply, RouteShorthandOptions } from 'fastify';
import type { z } from 'zod';
import { Failure } from '../errors.ts';
import { SummaryFailure } from '../summarize/summary-failure.ts';

/** Routes of one subject, for a server. */
export type Routes = (app: FastifyInstance) => void;

type Part<Described, Name extends string> = Described extends {
  [Key in Name]: infer Schema extends z.ZodType;
}
  ? z.output<Schema>
  : Record<string, never>;

export type Asked<Described extends ApiRoute> = {
  params: Part<Described, 'params'>;
  query: Part<Described, 'query'>;
  body: Part<Described, 'body'>;
};

/** `route(app, api.getRun, ({ params }) => viewOf(params.run))` */
export function route<Described extends ApiRoute>(
  app: FastifyInstance,
  described: Described,
  answer: (
    asked: Asked<Described>,
    reply: FastifyReply,
  ) => ApiAnswer<Described> | FastifyReply | Promise<ApiAnswer<Described> | FastifyReply>,
  options: Pick<RouteShorthandOptions, 'onRequest'> = {},
): void {
  const { method, path, params = noFields, query = noFields, body = noFields } = described;
  // Scrapers add parameters of their own to /metrics.
  const takesAnyQuery = !path.startsWith('/api/');
  app.route({
    ...options,
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    handler(request, reply) {
      const asked = {
        params: fieldsIn(readFields(params, request.params)),
        query: takesAnyQuery ? {} : fieldsIn(readQuery(query, Object(request.query))),
        body: fieldsIn(readFields(body, request.body)),
      };
      // Read by the schemas of this very route.
      return answer(asked as Asked<Described>, reply);
    },
  });
}

type Read = ReturnType<typeof readFields<ApiFields>>;

function fieldsIn(read: Read): object {
  if (read.ok) return read.fields;
  throw new Failure('usage', read.problem);
}

/** A moment of a request; it cannot be read by a schema, because it may count back from now. */
export function momentIn(name: string, text: string, now: number): Since;
export function momentIn(name: string, text: string | undefined, now: number): Since | undefined;
export function momentIn(name: string, text: string | undefined, now: number): Since | undefined {
  if (text === undefined) return undefined;
  const moment = parseSince(text, now);
  if (moment !== undefined) return moment;
  throw new Failure('usage', `${name}: expected a seq, an ISO time, or how long ago, like 2h.`);
}

/**
 * For routes whose answer takes a while and costs something: the work is aborted when the client goes away, and a
 * failure that knows when to try again says so in its header.
 */
export async function whileClientWaits<Answer>(
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | FastifyReply> {
  const left = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) left.abort();
  });
  try {
    return await work(left.signal);
  } catch (error) {
    // Nobody is there to be answered.
    if (left.signal.aborted) return reply.hijack();
    if (error instanceof SummaryFailure && error.retryAfterSec !== undefined)
      reply.header('Retry-After', String(error.retryAfterSec));
    throw error;
  }
}
