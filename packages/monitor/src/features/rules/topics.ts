// The detail of events about rules of the user.
import { z } from 'zod';
import { count, Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';
import { Severity } from '../attention/severity.ts';

/** `definition` is the configured rule as canonical JSON; it fires on events after this one. */
export const RuleSwitchedDetail = Detail.extend({ rule: z.string(), definition: text });

/** Every event up to this one was checked. */
export const RuleScannedDetail = Detail.extend({ line: z.int().positive() });

/** A rule fired on an event: the actions as they were configured at that time. */
export const RuleFiredDetail = Detail.extend({
  rule: z.string(),
  line: z.int().positive(),
  lineId: z.string(),
  at: z.iso.datetime().describe('when that event was accepted; rate limits use this time'),
  topic: z.string(),
  notify: z.object({ message: z.string(), severity: Severity }).optional(),
  attention: z.object({ message: z.string(), severity: Severity, remedy: text }).optional(),
  run: text.describe('the name of a command'),
});

/** A rule that is stopped until its filter is fixed. */
const RuleFailedDetail = Detail.extend({
  rule: z.string(),
  line: z.int().positive(),
  problem: z.string(),
});

/** `run` counts the starts of the command for one firing, from 1. */
const RuleCommandDetail = Detail.extend({
  rule: z.string(),
  command: z.string(),
  key: z.string().describe('the key of the effect'),
  run: z.int().positive(),
});

const ruleCommandEnds = ['ok', 'failed', 'unknown'] as const;

const RuleCommandEndedDetail = RuleCommandDetail.extend({
  outcome: z.enum(ruleCommandEnds).describe('unknown: the daemon stopped while the command was running'),
  exitCode: z.int().optional(),
  durationMs: count,
});

export const ruleTopics = {
  ...topicFamily('workflow.rule', ['switched_on', 'switched_off'], RuleSwitchedDetail),
  ...topicFamily('workflow.rule', ['scanned'], RuleScannedDetail),
  ...topicFamily('workflow.rule', ['fired'], RuleFiredDetail),
  ...topicFamily('workflow.rule', ['failed'], RuleFailedDetail),
  ...topicFamily('workflow.rule', ['command_started'], RuleCommandDetail),
  ...topicFamily('workflow.rule', ['command_ended'], RuleCommandEndedDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof ruleTopics> {}
}
