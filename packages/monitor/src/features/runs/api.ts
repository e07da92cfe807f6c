// Runs: many tickets in parallel, in waves.
import { z } from 'zod';
import { apiRoute, by, Time, text } from '../../kernel/http/api-route.ts';
import { AgentCheck } from '../agents/api.ts';
import { AgentName } from '../agents/schemas.ts';
import { MOST_TICKETS, MOST_WAVES } from './plan.ts';

export type HoldReason = z.infer<typeof Why>;
const Why = z.enum([
  'paused',
  'slots',
  'review',
  'backoff',
  'ticket-elsewhere',
  'claim',
  'merge-commit-unknown',
  'limit',
  'stopped',
  'idle',
  'budget',
]);

/** The part that comes from the board; `holds` come from the orchestrator. */
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
            status: z.string().nullable().describe('Null until it is dispatched'),
            since: Time.nullable(),
            pr: z.object({ number: z.int(), url: z.string().nullable() }).nullable(),
            verification: z.string().nullable(),
            error: z.string().nullable(),
            costUsd: z.number().nullable(),
            costEstimated: z.boolean(),
            costPartial: z.boolean().describe('Some of it is not known: it cost more'),
          }),
        ),
      }),
    ),
    done: z.int(),
    tickets: z.int(),
    costUsd: z.number().nullable(),
    costEstimated: z.boolean().describe('Some of it is estimated from tokens and list prices'),
    costPartial: z.boolean().describe('Some of it is not known: it cost more'),
    waited: z.object({
      hours: z.number().describe('How long its agents waited for people, in total'),
      waiting: z.int().describe('How many are waiting now'),
    }),
    holds: z
      .array(
        z.object({ ticket: z.string().nullable(), why: Why, message: z.string(), until: Time.nullable() }),
      )
      .describe('Why tickets or the run are not progressing'),
  })
  .meta({ id: 'RunDetail' });

/** A blocker that is not done and not in the run, so the run cannot clear it. */
const Blocker = z.object({ ticket: z.string(), blocker: z.string(), state: z.string() });
/** What happened, and the fix. */
export const Problem = z.object({ problem: z.string(), remedy: z.string() });
const RetriedRun = RunDetail.extend({
  notes: z.array(Problem).describe('What does not prevent the start, but will be needed'),
}).meta({ id: 'RetriedRun' });
const StartedRun = RetriedRun.extend({
  outsideBlockers: z.array(Blocker).describe('Open tickets outside the run that block tickets of the run'),
}).meta({ id: 'StartedRun' });

const params = z.strictObject({ run: z.string().describe('The run name') });
const name = text(120);
const ofTicket = name.describe('a ticket of the run');
const refusals = ['usage', 'unknown-run', 'not-allowed-now', 'state-not-ready', 'log-not-writable'] as const;
const action = { method: 'POST', tag: 'runs', params, answer: RunDetail } as const;

const ticketFields = {
  project: text(4_096)
    .optional()
    .describe(
      'the folder of a project that the daemon serves; with tickets, by default the project whose tickets have their prefix',
    ),
  tickets: z
    .array(z.string(), 'is not a list of tickets')
    .max(MOST_TICKETS)
    .optional()
    .describe('exactly one of tickets, waves and plan is required'),
  waves: z.array(z.array(z.string())).max(MOST_WAVES).optional(),
  plan: z.unknown().optional().describe('a plan file, see docs/guide/orchestration.md'),
};
export const agentFields = {
  base: name.optional().describe('the branch that worktrees start from'),
  agent: AgentName.optional().describe('the agent of every ticket, see GET /api/agents'),
  model: text(200).optional().describe('the model of that agent; default: its own or the configured one'),
  mode: text(200).optional().describe('the permission mode of that agent; default: the configured one'),
};
const choiceFields = {
  ...agentFields,
  agents: z
    .record(name, AgentName)
    .refine((agents) => Object.keys(agents).length <= MOST_TICKETS, 'has too many tickets')
    .optional()
    .describe('by ticket: the agent that it gets instead'),
};

export const runRoutes = {
  checkStart: apiRoute({
    method: 'POST',
    path: '/api/runs/preflight',
    tag: 'runs',
    summary: 'Check everything that a run needs, without starting it',
    verbs: ['svc run', 'svc orchestrate start'],
    body: z
      .strictObject({
        ...ticketFields,
        ...choiceFields,
        task: z
          .enum(['tracker', 'local'])
          .optional()
          .describe('instead of tickets: for a task whose ticket is created in the tracker, or only here'),
      })
      .refine(
        ({ tickets, waves, plan, task }) =>
          [tickets, waves, plan, task].filter((one) => one !== undefined).length === 1,
        'Exactly one of tickets, waves, plan and task is required',
      ),
    answer: z
      .object({
        ready: z.boolean(),
        missing: z.array(Problem).describe('Everything that prevents the start, each with its fix'),
        notes: z.array(Problem).describe('What does not prevent the start, but will be needed'),
        agents: z.array(AgentCheck).describe('What the agents answered, with their modes and models'),
        tracker: z
          .string()
          .nullable()
          .describe('Where a ticket of a task is created; null: the project has no tracker'),
      })
      .meta({ id: 'Preflight' }),
    failures: ['usage', 'unknown-project', 'not-allowed-now', 'config-invalid', 'state-not-ready'],
  }),
  startRun: apiRoute({
    method: 'POST',
    path: '/api/runs',
    tag: 'runs',
    summary: 'Start a run; it continues in the daemon',
    verbs: ['svc orchestrate start'],
    body: z
      .strictObject({
        ...ticketFields,
        dependencies: z
          .boolean()
          .default(false)
          .describe('order the tickets by their blockers in the tracker; only with tickets'),
        name: name.optional(),
        maxParallel: z.int().min(1).max(100).optional(),
        ...choiceFields,
        by,
      })
      .refine(
        ({ tickets, waves, plan }) => [tickets, waves, plan].filter((one) => one !== undefined).length === 1,
        'Exactly one of tickets, waves and plan is required',
      )
      .refine(
        ({ project, tickets }) => project !== undefined || tickets !== undefined,
        'project is required without tickets',
      )
      .refine(
        ({ tickets, dependencies }) => !dependencies || tickets !== undefined,
        'dependencies can only be used with tickets',
      ),
    answer: StartedRun,
    failures: [
      'usage',
      'unknown-project',
      'not-allowed-now',
      'config-invalid',
      'not-ready',
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
    summary: 'List all runs, newest first',
    verbs: ['svc orchestrate status'],
    query: z.strictObject({}),
    answer: z.object({ runs: z.array(RunDetail) }),
    failures: ['usage', 'state-not-ready'],
  }),
  getRun: apiRoute({
    method: 'GET',
    path: '/api/runs/{run}',
    tag: 'runs',
    summary: 'Show one run: its waves, the state of each ticket, and what is blocking',
    verbs: ['svc orchestrate status'],
    params,
    answer: RunDetail,
    failures: ['unknown-run', 'state-not-ready'],
  }),
  pauseRun: apiRoute({
    ...action,
    path: '/api/runs/{run}/pause',
    summary: 'Pause a run: start no more tickets; running ones continue',
    verbs: ['svc orchestrate pause'],
    body: z.strictObject({ by }),
    failures: refusals,
  }),
  resumeRun: apiRoute({
    ...action,
    path: '/api/runs/{run}/resume',
    summary: 'Resume a paused run',
    verbs: ['svc orchestrate resume'],
    body: z.strictObject({ by }),
    failures: refusals,
  }),
  cancelRun: apiRoute({
    ...action,
    path: '/api/runs/{run}/cancel',
    summary: 'Cancel a run, or one ticket of it',
    verbs: ['svc orchestrate cancel'],
    body: z.strictObject({ by, ticket: ofTicket.optional() }),
    failures: [...refusals, 'unknown-ticket'],
  }),
  retryTicket: apiRoute({
    ...action,
    path: '/api/runs/{run}/retry',
    summary: 'Restart one ticket of a run; a finished run resumes',
    verbs: ['svc orchestrate retry'],
    body: z.strictObject({ by, ticket: ofTicket }),
    answer: RetriedRun,
    failures: [...refusals, 'unknown-ticket', 'config-invalid', 'not-ready'],
  }),
};
