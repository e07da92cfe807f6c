// The detail of events about tasks without a ticket.
import { z } from 'zod';
import { Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';

/** A task that a person described becomes a ticket, of the tracker or only here, and then a run. `task` is its key. */
const TaskDetail = Detail.extend({ task: z.string() });

const TaskRequestedDetail = TaskDetail.extend({
  title: z.string(),
  body: z.string(),
  local: z.boolean().describe('true: only svc knows the ticket'),
  prefix: text.describe('of the name of a local ticket'),
  project: z.string().describe('the project folder'),
  base: text.describe('the branch that its worktree starts from'),
  agent: text,
  model: text,
  mode: text.describe('the permission mode of the agent'),
  by: text,
});

const TaskFiledDetail = TaskDetail.extend({ url: text });

const TaskStartedDetail = TaskDetail.extend({ run: z.string() });

const TaskRefusedDetail = TaskDetail.extend({ reason: z.string(), remedy: text });

export const taskTopics = {
  ...topicFamily('workflow.task', ['requested'], TaskRequestedDetail),
  ...topicFamily('workflow.task', ['filing'], TaskDetail),
  ...topicFamily('workflow.task', ['filed'], TaskFiledDetail),
  ...topicFamily('workflow.task', ['started'], TaskStartedDetail),
  ...topicFamily('workflow.task', ['refused'], TaskRefusedDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof taskTopics> {}
}
