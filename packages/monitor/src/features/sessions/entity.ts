// A session as the API shows it.
import { z } from 'zod';
import { last } from '../../kernel/board/entity-fields.ts';
import { Time } from '../../kernel/http/api-route.ts';
import { AgentRequest } from '../workers/agent-fields.ts';
import { hookedAgents } from './hook-event.ts';
import { sessionSources, sessionStates } from './hooks.ts';

export type Session = z.infer<typeof Session>;

export const Session = z
  .object({
    key: z.string().describe('<agent>/<its session id>'),
    agent: z.enum(hookedAgents),
    folder: z.string().describe('The worktree, or the folder outside of one'),
    branch: z.string().nullable().describe('Null: none is checked out there'),
    state: z.enum(sessionStates),
    known: z.enum(sessionSources).describe('How the state is known'),
    since: Time.describe('When this state began'),
    tool: z.string().nullable().describe('The tool that it asks permission for'),
    reason: z.string().nullable().describe('Why the state is unknown, or how the session ended'),
    pid: z.int().nullable().describe('Null: the process is not known'),
    pidStartedAt: z.string().nullable(),
    open: z.array(AgentRequest).describe('Requests that can be answered through svc'),
    ...last,
  })
  .meta({ id: 'Session' });
