// The detail of events about agents that people start.
import { z } from 'zod';
import { Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';
import { hookAnswers } from '../agents/request-limit.ts';
import { AgentRequest } from '../workers/agent-fields.ts';
import { hookedAgents } from './hook-event.ts';
import { sessionSources } from './hooks.ts';

/** Agents that people start themselves. The state is the topic's last part. */
const SessionDetail = Detail.extend({
  agent: z.enum(hookedAgents),
  folder: z.string().describe('the worktree, or the folder outside of one'),
  known: z.enum(sessionSources).describe('how the state is known'),
  tool: text.describe('the tool that it asks permission for'),
  reason: text.describe('why the state is unknown, or how the session ended'),
  pid: z.int().positive().optional(),
  pidStartedAt: text.describe('identifies the process besides its pid'),
  open: z.array(AgentRequest).optional().describe('requests that can be answered through svc'),
});

/** A person has answered a request through svc. */
const SessionAnswerDetail = Detail.extend({
  request: z.string().describe('its id'),
  tool: z.string(),
  answer: z.enum(hookAnswers),
  by: z.string(),
});

export const sessionTopicNames = [
  'running',
  'needs_permission',
  'needs_input',
  'idle',
  'ended',
  'unknown',
] as const;

export const sessionTopics = {
  ...topicFamily('session', sessionTopicNames, SessionDetail),
  ...topicFamily('session', ['answered'], SessionAnswerDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof sessionTopics> {}
}
