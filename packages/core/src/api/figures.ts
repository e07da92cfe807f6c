// The daemon's own figures.
import { z } from 'zod';
import { apiRoute, Time } from './route.ts';

export type RecentTimes = z.infer<typeof Times>;
const Times = z.object({
  count: z.int().describe('All since the start'),
  sampled: z.int().describe('How many of the newest the percentiles cover'),
  p50Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
});

export type Figures = z.infer<typeof Figures>;
const Figures = z
  .object({
    since: Time.describe('When the daemon started; counts begin there'),
    codehost: z.object({
      calls: z.int(),
      callsInLastHour: z.int(),
      callsPerHour: z.int().describe('How many it allows itself'),
      avoided: z.int().describe('Calls that asking for everything every 30 seconds would have made on top'),
      quotas: z.record(z.string(), z.object({ limit: z.int(), remaining: z.int(), resetsAt: Time })),
      pausedUntil: Time.nullable(),
    }),
    tracker: z.object({ poll: z.int(), move: z.int() }),
    deliveries: Times.describe('Accepted deliveries, from the request to the answer'),
    commits: Times.describe('Group commits of the event log'),
    lines: z.int().describe('Lines made durable'),
  })
  .meta({ id: 'Figures' });

export const figuresRoutes = {
  getFigures: apiRoute({
    method: 'GET',
    path: '/api/figures',
    tag: 'telemetry',
    summary: 'Calls to the code host and those that were avoided, its quotas, how long deliveries take',
    verbs: ['svc telemetry figures'],
    query: z.strictObject({}),
    answer: Figures,
    failures: ['usage'],
  }),
  getMetrics: apiRoute({
    method: 'GET',
    path: '/metrics',
    tag: 'telemetry',
    summary: 'The same and more, for a metrics backend',
    answer: z.string(),
    answerType: 'text/plain',
    failures: [],
  }),
};
