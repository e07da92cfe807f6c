// Runs: many tickets at once, in waves.
import { z } from 'zod';
import { MOST_TICKETS, MOST_WAVES } from '../orchestrate/plan.ts';
import { apiRoute, by, Time, text } from './route.ts';

export type HoldReason = z.infer<typeof Why>;
const Why = z.enum([
  'paused',
  'slots',
  'review',
  'backoff',
  'ticket-elsewhere',
  'claim',
  'merge-commit-unknown',
]);

/** What the board knows of it; what holds it up comes from the orchestrator. */
export type RunView = Omit<z.infer<typeof RunDetail>, 'holds'>;
const RunDetail = z
  .object({
    orchestrator: z.string(),
    name: z.string().nullable(),
    state: z.enum(['running', 'paused', 'completed', 'canceled', 'unknown']),
    startedAt: Time.nullable(),
    endedAt: Time.nullable(),
    project: z.string().nullable(),
    maxParallel: z.int().nullable(),
    waves: z.array(
      z.object({
        wave: z.int(),
        state: z.string(),
        tickets: z.array(
          z.object({
            ticket: z.string(),
            title: z.string().nullable(),
            status: z.string().nullable().describe('Null until it was dispatched'),
            since: Time.nullable(),
            pr: z.object({ number: z.int(), url: z.string().nullable() }).nullable(),
            verification: z.string().nullable(),
            error: z.string().nullable(),
            costUsd: z.number().nullable(),
          }),
        ),
      }),
    ),
    done: z.int(),
    tickets: z.int(),
    costUsd: z.number().nullable(),
    waited: z.object({
      hours: z.number().describe('That its workers waited on people'),
      waiting: z.int().describe('How many wait now'),
    }),
    holds: z
      .array(
        z.object({ ticket: z.string().nullable(), why: Why, message: z.string(), until: Time.nullable() }),
      )
      .describe('Why what does not go on does not'),
  })
  .meta({ id: 'RunDetail' });

/** A blocker that is not among the tickets and not done: nobody here takes it out of the way. */
export type OutsideBlocker = z.infer<typeof Blocker>;
const Blocker = z.object({ ticket: z.string(), blocker: z.string(), state: z.string() });
const StartedRun = RunDetail.extend({
  outsideBlockers: z.array(Blocker).describe('Tickets of no run that block some of this one'),
}).meta({ id: 'StartedRun' });

const params = z.strictObject({ run: z.string().describe('The name of the run') });
const name = text(120);
const ofTicket = name.describe('a ticket of the run');
const said = ['usage', 'unknown-run', 'not-allowed-now', 'state-not-ready', 'log-not-writable'] as const;
const action = { method: 'POST', tag: 'runs', params, answer: RunDetail } as const;

export const runRoutes = {
  startRun: apiRoute({
    method: 'POST',
    path: '/api/runs',
    tag: 'runs',
    summary: 'Begin a run; it goes on in the daemon',
    verbs: ['svc orchestrate start'],
    body: z
      .strictObject({
        project: text(4_096).describe('the folder of a project that the daemon serves'),
        tickets: z
          .array(z.string(), 'is not a list of tickets')
          .max(MOST_TICKETS)
          .optional()
          .describe('one of tickets, waves and plan is needed'),
        waves: z.array(z.array(z.string())).max(MOST_WAVES).optional(),
        plan: z.unknown().optional().describe('a plan file, see docs/guide/orchestration.md'),
        dependencies: z
          .boolean()
          .default(false)
          .describe('in the order that the tracker tells; with tickets only'),
        name: name.optional(),
        maxParallel: z.int().min(1).max(100).optional(),
        base: name.optional().describe('the branch that worktrees are made from'),
        by,
      })
      .refine(
        ({ tickets, waves, plan }) => [tickets, waves, plan].filter((one) => one !== undefined).length === 1,
        'One of tickets, waves and plan is needed',
      )
      .refine(
        ({ tickets, dependencies }) => !dependencies || tickets !== undefined,
        'Only tickets can be put in the order of their dependencies',
      ),
    answer: StartedRun,
    failures: [
      'usage',
      'unknown-project',
      'not-allowed-now',
      'config-invalid',
      'start-failed',
      'state-not-ready',
      'log-not-writable',
      'not-configured',
      'tracker-refused-token',
      'tracker-quota-used-up',
      'tracker-unavailable',
      'tracker-error',
    ],
  }),
  listRuns: apiRoute({
    method: 'GET',
    path: '/api/runs',
    tag: 'runs',
    summary: 'Every run that the board knows, the newest first',
    verbs: ['svc orchestrate status'],
    query: z.strictObject({}),
    answer: z.object({ runs: z.array(RunDetail) }),
    failures: ['usage', 'state-not-ready'],
  }),
  getRun: apiRoute({
    method: 'GET',
    path: '/api/runs/{run}',
    tag: 'runs',
    summary: 'One run: its waves, the standing of each ticket, what holds it up',
    verbs: ['svc orchestrate status'],
    params,
    answer: RunDetail,
    failures: ['unknown-run', 'state-not-ready'],
  }),
  pauseRun: apiRoute({
    ...action,
    path: '/api/runs/{run}/pause',
    summary: 'Start nothing more; what runs goes on',
    verbs: ['svc orchestrate pause'],
    body: z.strictObject({ by }),
    failures: said,
  }),
  resumeRun: apiRoute({
    ...action,
    path: '/api/runs/{run}/resume',
    summary: 'Go on after a pause',
    verbs: ['svc orchestrate resume'],
    body: z.strictObject({ by }),
    failures: said,
  }),
  cancelRun: apiRoute({
    ...action,
    path: '/api/runs/{run}/cancel',
    summary: 'End a run, or take one ticket out of it',
    verbs: ['svc orchestrate cancel'],
    body: z.strictObject({ by, ticket: ofTicket.optional() }),
    failures: [...said, 'unknown-ticket'],
  }),
  retryTicket: apiRoute({
    ...action,
    path: '/api/runs/{run}/retry',
    summary: 'Start one ticket of a run again; a run that is over goes on',
    verbs: ['svc orchestrate retry'],
    body: z.strictObject({ by, ticket: ofTicket }),
    failures: [...said, 'unknown-ticket', 'config-invalid', 'start-failed'],
  }),
};
