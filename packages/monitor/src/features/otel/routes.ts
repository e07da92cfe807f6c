// GET|POST /api/otel/query and /api/otel/logs forward a query to the metrics or log backend and return its response. GET
// /api/otel/status: whether the backends are available.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../../kernel/failure.ts';
import type { ApiAnswer } from '../../kernel/http/api-route.ts';
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import type { Backend } from './io/backends.ts';
import type { BackendProxy } from './io/proxy.ts';
import { type BackendName, type ProxyReading, readLogsRequest, readMetricsRequest } from './proxy-request.ts';

// GET|POST /api/otel/query and /api/otel/logs: forward a query to the metrics or log backend and return its response.
// GET /api/otel/status: whether the backends are available.

/** A query and a few short values, with every byte percent-encoded as three. */
const MAX_FORM = 64 * 1024;

export function otelRoutes(options: {
  backend: (name: BackendName) => Backend;
  status: () => ApiAnswer<typeof api.getTelemetry>;
}): Routes {
  const answerWith = (name: BackendName, read: (given: Record<string, unknown>) => ProxyReading) => ({
    method: ['GET', 'POST'],
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const proxy = proxyOf(options.backend(name), name);
      const reading = read(givenIn(request));
      if (!reading.ok) throw new Failure('usage', reading.problem);
      const { status, body } = await proxy.ask(reading.request);
      return reply.code(status).type('application/json; charset=utf-8').send(body);
    },
  });
  return (app) => {
    // Prometheus clients send this type; only these routes accept it.
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: MAX_FORM },
      (_request, body, parsed) => parsed(null, formFields(String(body))),
    );
    app.route({ url: '/api/otel/query', ...answerWith('metrics', readMetricsRequest) });
    app.route({ url: '/api/otel/logs', ...answerWith('logs', readLogsRequest) });
    route(app, api.getTelemetry, options.status);
  };
}

function proxyOf({ choice, proxy }: Backend, name: BackendName): BackendProxy {
  if (proxy !== undefined) return proxy;
  const { why, remedy } = choice.use ? { why: 'it has stopped', remedy: undefined } : choice;
  throw new Failure('not-configured', `The ${name} backend is not available: ${why}.`, remedy);
}

/** Fields of the address and the body together, as the backends read them; a field must not be in both. */
function givenIn({ query, body }: FastifyRequest): Record<string, unknown> {
  if (typeof query !== 'object' || query === null) return {};
  if (body === undefined || body === null) return { ...query };
  if (typeof body !== 'object' || Array.isArray(body))
    throw new Failure('usage', 'The body must be a JSON object or a form.');
  const twice = Object.keys(body).find((name) => Object.hasOwn(query, name));
  if (twice !== undefined)
    throw new Failure('usage', `${JSON.stringify(twice.slice(0, 60))} is given more than once.`);
  return { ...query, ...body };
}

function formFields(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.create(null);
  const form = new URLSearchParams(text);
  for (const name of form.keys()) {
    const values = form.getAll(name);
    fields[name] = values.length === 1 ? values[0] : values;
  }
  return fields;
}
