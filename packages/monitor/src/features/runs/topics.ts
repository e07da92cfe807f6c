// The detail of events about runs and their waves.
import { z } from 'zod';
import { count, Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';

const tickets = z.array(z.string()).optional();

const RunDetail = Detail.extend({
  name: text,
  tickets,
  waves: count,
  plan: z.array(z.array(z.string())).optional().describe('tickets by wave'),
  blockedBy: z.record(z.string(), z.array(z.string())).optional().describe('the blockers of each ticket'),
  maxParallel: count,
  project: text.describe('the project folder'),
  base: text.describe('the branch that worktrees start from'),
  workerCommand: text,
  workerModel: text,
  agent: text.describe('the agent that was chosen for the run'),
  model: text.describe('the model that was chosen for that agent'),
  mode: text.describe('its permission mode that was chosen'),
  agents: z.record(z.string(), z.string()).optional().describe('the agent that was chosen for each ticket'),
  reason: text,
  by: text,
});

const WaveDetail = Detail.extend({ wave: z.int().nonnegative(), tickets, reason: text });

export const runTopics = {
  ...topicFamily('orchestrator.run', ['started', 'paused', 'resumed', 'completed', 'canceled'], RunDetail),
  ...topicFamily('orchestrator.wave', ['started', 'completed', 'blocked'], WaveDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof runTopics> {}
}
