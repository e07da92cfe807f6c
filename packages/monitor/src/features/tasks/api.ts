// A task without a ticket: it becomes a ticket, of the tracker or only here, and a run is started for it.
import { z } from 'zod';
import { apiRoute, by, text } from '../../kernel/http/api-route.ts';
import { agentFields, Problem } from '../runs/api.ts';

/** Longer texts are refused with the length that is allowed, so the limit here is only a bound. */
const LONGEST_SENT = 2_000_000;

export const taskRoutes = {
  startTask: apiRoute({
    method: 'POST',
    path: '/api/tasks',
    tag: 'runs',
    summary: 'Create a ticket for a task and start a run for it',
    description:
      'Safe to repeat with the same key: one ticket is created, and one run is started, even if the daemon is killed in between.',
    verbs: ['svc run'],
    body: z.strictObject({
      project: text(4_096).describe('the folder of a project that the daemon serves'),
      text: z.string().max(LONGEST_SENT).describe('the first line is the title; at most 20000 characters'),
      local: z
        .boolean()
        .default(false)
        .describe(
          'true: the ticket is known only to svc, like T-1; so is every task of a project without a tracker',
        ),
      key: z
        .string()
        .regex(
          /^[A-Za-z0-9._-]{1,100}$/,
          'expected at most 100 letters, digits, dots, dashes and underscores',
        )
        .optional()
        .describe('the same key creates no second ticket; default: each request is a new task'),
      ...agentFields,
      by,
    }),
    answer: z
      .object({
        key: z.string(),
        state: z
          .enum(['started', 'pending'])
          .describe('pending: the tracker has not answered yet; svc continues on its own'),
        ticket: z.string().nullable(),
        title: z.string(),
        local: z.boolean(),
        url: z.string().nullable(),
        run: z.string().nullable(),
        message: z.string().nullable().describe('Why it is pending'),
        notes: z.array(Problem).describe('What does not prevent the start, but will be needed'),
      })
      .meta({ id: 'StartedTask' }),
    failures: [
      'usage',
      'unknown-project',
      'not-allowed-now',
      'not-ready',
      'config-invalid',
      'state-not-ready',
      'log-not-writable',
    ],
  }),
};
