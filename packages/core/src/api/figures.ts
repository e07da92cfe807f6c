// The daemon's own metrics.
import { z } from 'zod';
import { apiRoute, Time } from './route.ts';

export type RecentTimes = z.infer<typeof Times>;
const Times = z.object({
  count: z.int().describe('All since the daemon started'),
  sampled: z.int().describe('How many of the newest samples the percentiles cover'),
  p50Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
});

export type Figures = z.infer<typeof Figures>;
const Figures = z
  .object({
    since: Time.describe('When the daemon started; counts start there'),
    codehost: z.object({
      calls: z.int(),
      callsInLastHour: z.int(),
      callsPerHour: z.int().describe('The limit that svc sets itself'),
      avoided: z.int().describe('Calls that polling everything every 30 seconds would have added'),
      quotas: z.record(z.string(), z.object({ limit: z.int(), remaining: z.int(), resetsAt: Time })),
      pausedUntil: Time.nullable(),
    }),
    tracker: z.object({ poll: z.int(), move: z.int() }),
    deliveries: Times.describe('Accepted deliveries, from the request to the answer'),
    commits: Times.describe('Group commits of the event log'),
    lines: z.int().describe('Events written to the log'),
  })
  .meta({ id: 'Figures' });

export const figuresRoutes = {
  getFigures: apiRoute({
    method: 'GET',
    path: '/api/figures',
    tag: 'telemetry',
    summary: 'Show code host calls made and avoided, quotas, and delivery times',
    verbs: ['svc telemetry figures'],
    query: z.strictObject({}),
    answer: Figures,
    failures: ['usage'],
  }),
  getMetrics: apiRoute({
    method: 'GET',
    path: '/metrics',
    tag: 'telemetry',
    summary: 'Show all metrics in the Prometheus text format',
    answer: z.string(),
    answerType: 'text/plain',
    failures: [],
  }),
};
