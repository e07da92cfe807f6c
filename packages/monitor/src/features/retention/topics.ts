// The detail of events about removed data.
import { z } from 'zod';
import { count, Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';

export const retentionKinds = ['worktrees', 'runs', 'journals', 'archives', 'logs', 'event log'] as const;

const RetentionDetail = Detail.extend({
  kind: z.enum(retentionKinds),
  name: z.string(),
  path: z.string(),
  bytes: count,
  reason: z.string().describe('the policy that removed it'),
  by: text,
});

export const retentionTopics = {
  ...topicFamily('monitor.retention', ['removed'], RetentionDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof retentionTopics> {}
}
