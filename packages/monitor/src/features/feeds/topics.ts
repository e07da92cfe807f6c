// The detail of events about feeds.
import { z } from 'zod';
import { Detail, text, time, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';

export const feedGrades = ['live', 'late', 'degraded', 'blind', 'disabled', 'connecting'] as const;

const FeedDetail = Detail.extend({
  feed: z.string(),
  from: z.enum(feedGrades).optional(),
  reason: text,
  remedy: text,
  since: time,
});

type FeedDetail = z.infer<typeof FeedDetail>;

export const feedTopics = {
  ...topicFamily('monitor.feed', feedGrades, FeedDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof feedTopics> {}
}
