// The detail of events about archived runs.
import { z } from 'zod';
import { count, Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';

const ArchiveDetail = Detail.extend({
  orchestrators: z.array(z.string()).optional(),
  files: count,
  bytes: count,
  olderThanDays: z.number().optional(),
  path: text,
});

export const archiveTopics = {
  ...topicFamily('archive', ['swept', 'pruned', 'restored'], ArchiveDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof archiveTopics> {}
}
