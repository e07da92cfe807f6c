// The detail of events about attention items: raised and resolved, and what people do with them.
import { z } from 'zod';
import { Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';
import { handOverFields } from './hand-over.ts';
import { Severity } from './severity.ts';

const AttentionReason = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/)
  .describe('deploy-timeout, deploy-budget-exhausted, pr-closed, worker-dead, feed-blind, …');

/** One item is open per orchestrator, ticket and reason, however often it is raised. */
const AttentionDetail = Detail.extend({
  reason: AttentionReason,
  message: z.string(),
  remedy: text.describe('the command that fixes it'),
  severity: Severity,
  feed: text,
  evidence: z.array(z.int().positive()).optional().describe('the events that it is based on'),
  rule: text.describe('the rule that raised it; rules do not fire on such an event'),
});
const AttentionResolvedDetail = Detail.extend({
  reason: AttentionReason,
  message: text,
  by: text,
  feed: text,
});
const AttentionAcknowledgedDetail = Detail.extend({
  reason: AttentionReason,
  by: z.string(),
  feed: text,
});
const AttentionSnoozedDetail = AttentionAcknowledgedDetail.extend({
  until: z.iso.datetime({ offset: true }),
});
const AttentionHandedOverDetail = AttentionAcknowledgedDetail.extend(handOverFields);
/** `line` is the event of the action that is undone. */
const AttentionUndoneDetail = AttentionAcknowledgedDetail.extend({ line: z.int().positive() });

export const attentionDetails = {
  ...topicFamily('comms', ['attention'], AttentionDetail),
  ...topicFamily('comms', ['attention_resolved'], AttentionResolvedDetail),
  ...topicFamily('comms', ['attention_acknowledged'], AttentionAcknowledgedDetail),
  ...topicFamily('comms', ['attention_snoozed'], AttentionSnoozedDetail),
  ...topicFamily('comms', ['attention_handed_over'], AttentionHandedOverDetail),
  ...topicFamily('comms', ['attention_undone'], AttentionUndoneDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof attentionDetails> {}
}
