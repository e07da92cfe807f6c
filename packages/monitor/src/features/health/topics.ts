// The detail of events about the daemon itself.
import { z } from 'zod';
import { count, Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';

const DaemonDetail = Detail.extend({
  version: text,
  pid: z.int().positive().optional(),
  port: count,
  reason: text,
});

/** Written by the doctor only to be read back. */
const DaemonCheckedDetail = Detail.extend({ by: text });

export const daemonTopics = {
  ...topicFamily('monitor.daemon', ['started', 'stopped'], DaemonDetail),
  ...topicFamily('monitor.daemon', ['checked'], DaemonCheckedDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof daemonTopics> {}
}
