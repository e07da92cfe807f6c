// Queries to the metrics and log backends, through the daemon.
import { z } from 'zod';
import { apiRoute } from '../../kernel/http/api-route.ts';

const state = z.enum(['disabled', 'connecting', 'live', 'degraded']);
const trouble = { why: z.string().nullable(), remedy: z.string().nullable(), url: z.string().nullable() };
const Backend = z.object({
  state,
  since: z.string().nullable(),
  ...trouble,
  lastAnswerAt: z.string().nullable(),
});

export const Telemetry = z
  .object({
    metrics: Backend,
    logs: Backend,
  })
  .meta({ id: 'Telemetry' });

/** On the wire every value is text; a JSON body may also give numbers. */
const value = z.union([z.string().max(64), z.number()]).optional();
const query = z.string().min(1).describe('at most 16 KiB');
const metricsFields = z.strictObject({
  query: query.describe('PromQL, at most 16 KiB'),
  time: value.describe('a point in time: seconds since 1970 or an ISO time'),
  start: value.describe('start of a range; needs end and step'),
  end: value,
  step: value.describe('seconds, or a duration like 15s'),
});
const logsFields = z.strictObject({
  query: query.describe('LogQL, at most 16 KiB'),
  start: value.describe('nanoseconds or seconds since 1970, or an ISO time'),
  end: value,
  limit: z
    .union([z.string(), z.int().min(1).max(5_000)])
    .optional()
    .describe('from 1 to 5000'),
  direction: z.enum(['forward', 'backward']).optional(),
});

const answer = z
  .looseObject({ data: z.looseObject({ result: z.array(z.unknown()).optional() }).optional() })
  .describe("The backend's own answer and status");
const failures = ['usage', 'not-configured', 'backend-failed', 'backend-slow'] as const;
const bodyTypes = ['application/json', 'application/x-www-form-urlencoded'];
const proxied = { tag: 'telemetry', answer, failures } as const;

export const otelRoutes = {
  queryMetrics: apiRoute({
    ...proxied,
    method: 'GET',
    path: '/api/otel/query',
    summary: 'Query the metrics backend',
    query: metricsFields,
  }),
  postMetricsQuery: apiRoute({
    ...proxied,
    method: 'POST',
    path: '/api/otel/query',
    summary: 'Query the metrics backend, with the query in the body',
    body: metricsFields,
    bodyTypes,
  }),
  queryLogs: apiRoute({
    ...proxied,
    method: 'GET',
    path: '/api/otel/logs',
    summary: 'Query the log backend',
    query: logsFields,
  }),
  postLogsQuery: apiRoute({
    ...proxied,
    method: 'POST',
    path: '/api/otel/logs',
    summary: 'Query the log backend, with the query in the body',
    body: logsFields,
    bodyTypes,
  }),
  getTelemetry: apiRoute({
    method: 'GET',
    path: '/api/otel/status',
    tag: 'telemetry',
    summary: 'Show the state of the metrics and log backends',
    query: z.strictObject({}),
    answer: Telemetry,
    failures: ['usage'],
  }),
};
