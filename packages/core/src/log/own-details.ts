// What is told about our own events: runs, waves, workers, deploys, verification, tickets, attention,
// feeds, the daemon, findings and archives. Who and what it is about stands in the line's scope.
import { z } from 'zod';
import { FindingSeverity } from '../feedback/findings.ts';
import { WorkerPhase, WorkerStatus } from '../runs/signal-file.ts';
import { Detail, topicFamily } from './topic-family.ts';

const text = z.string().optional();
const count = z.int().nonnegative().optional();
const time = z.iso.datetime({ offset: true }).optional();
const tickets = z.array(z.string()).optional();

export const RunDetail = Detail.extend({
  name: text,
  tickets,
  waves: count,
  plan: z.array(z.array(z.string())).optional().describe('tickets by wave'),
  blockedBy: z.record(z.string(), z.array(z.string())).optional().describe('what blocks a ticket, by ticket'),
  maxParallel: count,
  project: text.describe('folder of the project'),
  base: text.describe('branch that worktrees are made from'),
  workerCommand: text,
  workerModel: text,
  reason: text,
  by: text,
});

export const WaveDetail = Detail.extend({ wave: z.int().nonnegative(), tickets, reason: text });

/** How a merge in a repository is proven. */
const Policy = z.object({
  timeoutSec: z.int().positive(),
  productionEnvironment: z.string(),
  stagingEnvironment: z.string(),
  skipDeployVerification: z.boolean().nullable().describe('null: the configuration cannot be read'),
  acceptDescendants: z.boolean(),
});

/**
 * `signal` is the signal file as it stood after the change, so that a reducer never has to read a file. `hash` tells
 * whether the log has a file's content. `policy` is in older lines; now `monitor.config.applied` has it.
 */
const WorkerDetail = Detail.extend({
  signal: z.record(z.string(), z.unknown()).optional(),
  hash: text,
  policy: Policy.optional(),
  changed: z.array(z.string()).optional().describe('fields of the file that changed'),
  reason: text,
});
export const WorkerDispatchedDetail = WorkerDetail.extend({ command: text, model: text, worktreePath: text });
export const WorkerStatusDetail = WorkerDetail.extend({ from: WorkerStatus.optional(), to: WorkerStatus });
export const WorkerPhaseDetail = WorkerDetail.extend({ from: WorkerPhase.optional(), to: WorkerPhase });
export const WorkerProcessDetail = WorkerDetail.extend({
  pid: z.int().positive().optional(),
  lastSeenAt: time,
  willRevive: z.boolean().optional().describe('true when a new process is about to be started for it'),
  stderr: text.describe('the last lines of its standard error'),
});
/** A person's word: the worker is to be started anew. */
export const WorkerRetriedDetail = Detail.extend({ by: z.string(), note: text });
/** Its agent is to be started again for what it was told of its pull request. */
export const WorkerRecallDetail = Detail.extend({
  reason: z.enum(['checks', 'review']),
  number: count.describe('of its cause, from 1'),
});
export const WorkerCorruptDetail = Detail.extend({ path: z.string(), problem: z.string() });

export const DeployDetail = Detail.extend({
  state: text.describe('the deployment state that caused it'),
  attempts: count.describe('failed deployments so far'),
  budget: count,
  timeoutSec: count,
  deadline: time,
  logUrl: text,
  description: text,
});

/** A person's word on a deploy that came to its end. */
export const DeployDecisionDetail = Detail.extend({ by: z.string(), note: text });

/** Whether the deployed commit `scope.sha` contains the merge `scope.mergeSha`, and who was asked. */
export const DescendantDetail = Detail.extend({
  contains: z.boolean(),
  by: z.enum(['git', 'codehost']),
});

export const VerificationDetail = Detail.extend({
  summary: text,
  findings: z.array(z.string()).optional(),
  advisory: z.boolean().optional().describe('true when a failure does not block the wave'),
  blocking: count.describe('findings that fail it'),
  testCommand: text,
  exitCode: z.int().optional().describe('of the test command'),
  durationMs: count,
  logPath: text.describe('the whole output'),
  url: text,
});

/** What was filed about a failed verification, so that it stands in nobody's way any more. */
export const RemediationDetail = Detail.extend({
  destination: z.enum(['tracker', 'finding']),
  filedAs: text.describe('ticket id'),
  url: text,
});

export const TicketPhaseDetail = Detail.extend({ from: text, to: z.string(), skill: text });
export const TicketMoveDetail = Detail.extend({ from: text, to: z.string(), stateId: text, phase: text });

/** The rule as it stands in the configuration from then on, as canonical JSON; it fires on lines after this one. */
export const RuleSwitchedDetail = Detail.extend({ rule: z.string(), definition: text });
/** Every line up to this one was looked at. */
export const RuleScannedDetail = Detail.extend({ line: z.int().positive() });
/** A rule fired on a line: what it asks for, in the words of that moment. */
export const RuleFiredDetail = Detail.extend({
  rule: z.string(),
  line: z.int().positive(),
  lineId: z.string(),
  at: z.iso.datetime().describe('when that line was accepted; limits count by it'),
  topic: z.string(),
  notify: z.object({ message: z.string(), severity: FindingSeverity }).optional(),
  attention: z.object({ message: z.string(), severity: FindingSeverity, remedy: text }).optional(),
  run: text.describe('name of a command'),
});
/** A rule that cannot go on: it does nothing until its filter is changed. */
export const RuleFailedDetail = Detail.extend({
  rule: z.string(),
  line: z.int().positive(),
  problem: z.string(),
});
/** `run` counts how often the command was started for one firing, from 1. */
export const RuleCommandDetail = Detail.extend({
  rule: z.string(),
  command: z.string(),
  key: z.string().describe('of the effect'),
  run: z.int().positive(),
});
export const ruleCommandEnds = ['ok', 'failed', 'unknown'] as const;
export const RuleCommandEndedDetail = RuleCommandDetail.extend({
  outcome: z.enum(ruleCommandEnds).describe('unknown: the daemon ended while it ran'),
  exitCode: z.int().optional(),
  durationMs: count,
});

export const AttentionReason = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/)
  .describe('deploy-timeout, deploy-budget-exhausted, pr-closed, worker-dead, feed-blind, …');

/** One item is open per orchestrator, ticket and reason, however often it is raised. */
export const AttentionDetail = Detail.extend({
  reason: AttentionReason,
  message: z.string(),
  remedy: text.describe('the one command that mends it'),
  severity: FindingSeverity,
  feed: text,
  evidence: z.array(z.int().positive()).optional().describe('the lines that it was concluded from'),
  rule: text.describe('the rule that it comes from; no rule fires on it'),
});
export const AttentionResolvedDetail = Detail.extend({
  reason: AttentionReason,
  message: text,
  by: text,
  feed: text,
});
export const AttentionAcknowledgedDetail = Detail.extend({
  reason: AttentionReason,
  by: z.string(),
  feed: text,
});
export const AttentionSnoozedDetail = AttentionAcknowledgedDetail.extend({
  until: z.iso.datetime({ offset: true }),
});
export const AttentionHandedOverDetail = AttentionAcknowledgedDetail.extend({
  to: z.string().describe('who has it now'),
  note: text,
});

export const feedGrades = ['live', 'late', 'degraded', 'blind', 'disabled', 'connecting'] as const;
export const FeedDetail = Detail.extend({
  feed: z.string(),
  from: z.enum(feedGrades).optional(),
  reason: text,
  remedy: text,
  since: time,
});

export const DaemonDetail = Detail.extend({
  version: text,
  pid: z.int().positive().optional(),
  port: count,
  reason: text,
});

/**
 * The configuration of a project that holds from this line on. The values of keys are not told, but for the policies
 * of deploys: by them a merge is done or waits.
 */
export const ConfigAppliedDetail = Detail.extend({
  project: z.string().describe('its folder'),
  served: z.boolean().describe('false: it is no longer one of the projects of this machine'),
  keys: z.array(z.string()).describe('what changed since it was applied last; empty at a start'),
  deploy: z.record(z.string(), Policy).describe('by owner/repo'),
  others: z.enum(['default', 'unknown']).describe('the policy of repositories that it does not name'),
});

/** A line of the doctor: written to be read back, and nothing else. */
export const DaemonCheckedDetail = Detail.extend({ by: text });

export const FindingDetail = Detail.extend({
  title: z.string(),
  severity: FindingSeverity.optional(),
  skill: text,
  tags: z.array(z.string()).optional(),
});
export const FindingFiledDetail = FindingDetail.extend({
  destination: z.enum(['tracker', 'codehost']),
  filedAs: text.describe('ticket id or issue number'),
  url: text,
});
export const DrainDetail = Detail.extend({ file: text, filed: z.int().nonnegative(), failed: count });

export const ArchiveDetail = Detail.extend({
  orchestrators: z.array(z.string()).optional(),
  files: count,
  bytes: count,
  olderThanDays: z.number().optional(),
  path: text,
});

export const ownTopics = {
  ...topicFamily('orchestrator.run', ['started', 'paused', 'resumed', 'completed', 'canceled'], RunDetail),
  ...topicFamily('orchestrator.wave', ['started', 'completed', 'blocked'], WaveDetail),
  ...topicFamily('orchestrator.worker', ['dispatched'], WorkerDispatchedDetail),
  ...topicFamily('orchestrator.worker', ['status_changed'], WorkerStatusDetail),
  ...topicFamily('orchestrator.worker', ['phase_changed'], WorkerPhaseDetail),
  ...topicFamily('orchestrator.worker', ['updated'], WorkerDetail),
  ...topicFamily('orchestrator.worker', ['died', 'revived', 'removed'], WorkerProcessDetail),
  ...topicFamily('orchestrator.worker', ['corrupt'], WorkerCorruptDetail),
  ...topicFamily('orchestrator.worker', ['retried'], WorkerRetriedDetail),
  ...topicFamily('orchestrator.worker', ['recalled'], WorkerRecallDetail),
  ...topicFamily('orchestrator.deploy', ['started', 'succeeded', 'failed', 'timed_out'], DeployDetail),
  ...topicFamily('orchestrator.deploy', ['retried', 'accepted'], DeployDecisionDetail),
  ...topicFamily('orchestrator.deploy', ['descendant_checked'], DescendantDetail),
  ...topicFamily('orchestrator.verification', ['started', 'passed', 'failed'], VerificationDetail),
  ...topicFamily('orchestrator.verification', ['remediation_filed'], RemediationDetail),
  ...topicFamily('workflow.ticket', ['phase_changed'], TicketPhaseDetail),
  ...topicFamily('workflow.ticket', ['state_moved'], TicketMoveDetail),
  ...topicFamily('workflow.rule', ['switched_on', 'switched_off'], RuleSwitchedDetail),
  ...topicFamily('workflow.rule', ['scanned'], RuleScannedDetail),
  ...topicFamily('workflow.rule', ['fired'], RuleFiredDetail),
  ...topicFamily('workflow.rule', ['failed'], RuleFailedDetail),
  ...topicFamily('workflow.rule', ['command_started'], RuleCommandDetail),
  ...topicFamily('workflow.rule', ['command_ended'], RuleCommandEndedDetail),
  ...topicFamily('comms', ['attention'], AttentionDetail),
  ...topicFamily('comms', ['attention_resolved'], AttentionResolvedDetail),
  ...topicFamily('comms', ['attention_acknowledged'], AttentionAcknowledgedDetail),
  ...topicFamily('comms', ['attention_snoozed'], AttentionSnoozedDetail),
  ...topicFamily('comms', ['attention_handed_over'], AttentionHandedOverDetail),
  ...topicFamily('monitor.feed', feedGrades, FeedDetail),
  ...topicFamily('monitor.daemon', ['started', 'stopped'], DaemonDetail),
  ...topicFamily('monitor.daemon', ['checked'], DaemonCheckedDetail),
  ...topicFamily('monitor.config', ['applied'], ConfigAppliedDetail),
  ...topicFamily('feedback', ['finding_added'], FindingDetail),
  ...topicFamily('feedback', ['finding_filed'], FindingFiledDetail),
  ...topicFamily('feedback', ['drained'], DrainDetail),
  ...topicFamily('archive', ['swept', 'pruned', 'restored'], ArchiveDetail),
};

export type AttentionDetail = z.infer<typeof AttentionDetail>;
export type FeedDetail = z.infer<typeof FeedDetail>;
