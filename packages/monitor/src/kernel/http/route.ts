// Registers a route of the API's table. The schemas that describe the route parse the request, so a handler gets typed
// values and unknown fields are refused.
import type { FastifyInstance, FastifyReply, RouteShorthandOptions } from 'fastify';
import type { z } from 'zod';
import { Failure } from '../failure.ts';
import { parseSince, type Since } from '../log/event-filter.ts';
import { type ApiAnswer, type ApiFields, type ApiRoute, noFields } from './api-route.ts';
import { readFields, readQuery } from './read-fields.ts';

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
  options: Pick<RouteShorthandOptions, 'onRequest' | 'bodyLimit'> = {},
): void {
  const { method, path, params = noFields, query = noFields, body = noFields } = described;
  // Scrapers add their own parameters to /metrics.
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
      // Parsed by the schemas of this route.
      return answer(asked as Asked<Described>, reply);
    },
  });
}

type Read = ReturnType<typeof readFields<ApiFields>>;

function fieldsIn(read: Read): object {
  if (read.ok) return read.fields;
  throw new Failure('usage', read.problem);
}

/** A point in time from a request; no schema can parse it, because it may be relative to now. */
export function momentIn(name: string, text: string, now: number): Since;
export function momentIn(name: string, text: string | undefined, now: number): Since | undefined;
export function momentIn(name: string, text: string | undefined, now: number): Since | undefined {
  if (text === undefined) return undefined;
  const moment = parseSince(text, now);
  if (moment !== undefined) return moment;
  throw new Failure('usage', `${name}: expected an event number (seq), an ISO time or an age such as 2h.`);
}

/** Aborted when the client disconnects. */
export function goneWith(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}

/**
 * For routes that take a while and cost something: the work is aborted when the client disconnects, and a failure
 * that knows when to retry sets the Retry-After header.
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
    // The client has disconnected.
    if (left.signal.aborted) return reply.hijack();
    if (error instanceof Failure && error.retryAfterSec !== undefined)
      reply.header('Retry-After', String(error.retryAfterSec));
    throw error;
  }
}
