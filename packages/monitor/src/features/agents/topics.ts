// The detail of events about agents.
import { z } from 'zod';
import { count, Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';
import { AgentRequest, WorkerAgent } from '../workers/agent-fields.ts';
import { toolStatuses } from './schemas.ts';

// Agents that svc talks to. Only what happened, without the content of tools: the journal has that.
const AgentDetail = Detail.extend({ attempt: z.int().positive() });

const AgentSessionDetail = AgentDetail.extend({
  agent: z.string(),
  version: text,
  protocol: z.boolean().describe('false: a command line that svc cannot talk to'),
  how: z.enum(['new', 'resume', 'load']).optional(),
  sessionId: text,
  mode: text,
  model: text,
  images: WorkerAgent.shape.images,
  costOf: WorkerAgent.shape.costOf.optional(),
  reason: text.describe('why it runs as a command line'),
});

const AgentFailedDetail = AgentDetail.extend({ problem: z.string() });

const AgentEndedDetail = AgentDetail.extend({ exitCode: z.int().optional(), signal: text });

const AgentAmounts = {
  context: WorkerAgent.shape.context.optional(),
  tokens: WorkerAgent.shape.tokens.optional(),
  cost: WorkerAgent.shape.cost.optional(),
};

const AgentTurnDetail = AgentDetail.extend({
  turn: z.int(),
  text: text.describe('the start of the prompt'),
  by: text,
  ok: z.boolean().optional(),
  reason: text.describe('why it ended'),
  queued: count.describe('messages that are sent next'),
  ...AgentAmounts,
});

const AgentToolDetail = AgentDetail.extend({
  tool: z.string().describe('its id'),
  title: z.string(),
  kind: text,
  status: z.enum(toolStatuses),
  paths: z.array(z.string()).optional(),
  exitCode: z.int().optional(),
});

const AgentRequestDetail = AgentDetail.extend({ request: AgentRequest });

const AgentAnswerDetail = AgentDetail.extend({
  request: z.string().describe('its id'),
  answer: z.string().describe('the kind of the option, cancelled, or withdrawn by the agent'),
  running: z.boolean().describe('whether a turn goes on'),
  by: text,
});

const AgentMessageDetail = AgentDetail.extend({ text: z.string() });

const AgentPlanDetail = AgentDetail.extend({
  entries: z.array(z.object({ content: z.string(), status: z.string() })),
});

const AgentModeDetail = AgentDetail.extend({
  mode: text,
  model: text,
  by: text.describe('who changed it; absent: the agent did, or svc at the start'),
});

const AgentUsageDetail = AgentDetail.extend(AgentAmounts);

/** The provider's usage limit. Attempt and turn identify it. */
const AgentLimitDetail = AgentDetail.extend({
  turn: z.int().describe('0: of a command line'),
  text: z.string().describe('as the agent reports it'),
  until: WorkerAgent.shape.limit.unwrap().shape.until.optional(),
  unpaid: z.boolean().optional().describe('true: waiting does not end it'),
});

const AgentLimitOverDetail = AgentDetail.extend({ turn: z.int() });

/** A person stopped what the agent was doing. */
const AgentStoppedDetail = AgentDetail.extend({ by: z.string() });

/** Its process is ended, because it had nothing to do; its next message starts it again. */
const AgentSuspendedDetail = AgentDetail.extend({
  minutes: z.int().describe('how long it had nothing to do'),
});

export const agentTopics = {
  ...topicFamily('agent.session', ['started'], AgentSessionDetail),
  ...topicFamily('agent.session', ['failed'], AgentFailedDetail),
  ...topicFamily('agent.session', ['ended'], AgentEndedDetail),
  ...topicFamily('agent.turn', ['started', 'ended'], AgentTurnDetail),
  ...topicFamily('agent.tool', ['started', 'ended'], AgentToolDetail),
  ...topicFamily('agent.request', ['opened'], AgentRequestDetail),
  ...topicFamily('agent.request', ['answered'], AgentAnswerDetail),
  ...topicFamily('agent', ['message'], AgentMessageDetail),
  ...topicFamily('agent', ['plan_changed'], AgentPlanDetail),
  ...topicFamily('agent', ['mode_changed'], AgentModeDetail),
  ...topicFamily('agent', ['usage'], AgentUsageDetail),
  ...topicFamily('agent.limit', ['reached'], AgentLimitDetail),
  ...topicFamily('agent.limit', ['over'], AgentLimitOverDetail),
  ...topicFamily('agent', ['stopped'], AgentStoppedDetail),
  ...topicFamily('agent', ['suspended'], AgentSuspendedDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof agentTopics> {}
}
