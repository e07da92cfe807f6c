// What the hooks of agents that people start report and ask, and what people answer.
import { z } from 'zod';
import { apiRoute, by, text } from '../../kernel/http/api-route.ts';
import { hookAnswers } from '../agents/request-limit.ts';
import { HOOK_ASK_PATH, HOOK_REPORT_PATH } from './hook-event.ts';
import { HookAsk, HookReport } from './hooks.ts';

const ofHook = {
  method: 'POST',
  tag: 'agents',
  headers: z.object({
    'x-svc-hook-token': z.string().describe('The token in the file hook-token of the data root'),
  }),
} as const;
export const sessionRoutes = {
  reportHook: apiRoute({
    ...ofHook,
    path: HOOK_REPORT_PATH,
    summary: 'Report an event of an agent that a person started',
    description:
      'Called by the hooks that `svc hooks install` adds to the settings of an agent. The answer says nothing about the agent and decides nothing for it.',
    body: HookReport,
    answer: z.object({ ok: z.literal(true) }),
    failures: [
      'usage',
      'wrong-hook-token',
      'too-many-requests',
      'state-not-ready',
      'log-not-writable',
      'file-unusable',
    ],
  }),
  askByHook: apiRoute({
    ...ofHook,
    path: HOOK_ASK_PATH,
    summary: 'Wait for the answer to a permission request of an agent that a person started',
    description:
      'Called by the hook that `svc hooks install <agent> --answer` adds. The request can be answered until this responds, for at most a minute.',
    body: HookAsk,
    answer: z.object({ answer: z.enum(hookAnswers).nullable().describe('Null: nobody has answered') }),
    failures: ['usage', 'wrong-hook-token', 'too-many-requests', 'file-unusable'],
  }),
  answerSession: apiRoute({
    method: 'POST',
    path: '/api/sessions/answer',
    tag: 'agents',
    summary: 'Answer a permission request of an agent that a person started',
    description: 'Only of a session whose agent has the hooks of `svc hooks install <agent> --answer`.',
    verbs: ['svc agent answer'],
    body: z.strictObject({
      session: text(220).describe('the key of the session'),
      request: text(200).describe('the id of the request'),
      answer: z.enum(hookAnswers),
      by,
    }),
    answer: z.object({ ok: z.literal(true), answered: z.string() }),
    failures: ['usage', 'not-allowed-now', 'too-many-requests', 'state-not-ready', 'log-not-writable'],
  }),
};
