// What is told about our own events: runs, waves, workers, deploys, verification, tickets, attention,
// feeds, the daemon, findings and archives. Who and what it is about stands in the line's scope.
import { z } from 'zod';
import { FindingSeverity } from '../feedback/finding.ts';
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
  maxParallel: count,
  reason: text,
});

export const WaveDetail = Detail.extend({ wave: z.int().nonnegative(), tickets, reason: text });

/** `signal` is the signal file as it stood after the change, so that a reducer never has to read a file. */
const WorkerDetail = Detail.extend({ signal: z.record(z.string(), z.unknown()).optional(), reason: text });
export const WorkerDispatchedDetail = WorkerDetail.extend({ command: text, model: text, worktreePath: text });
export const WorkerStatusDetail = WorkerDetail.extend({ from: WorkerStatus.optional(), to: WorkerStatus });
export const WorkerPhaseDetail = WorkerDetail.extend({ from: WorkerPhase.optional(), to: WorkerPhase });
export const WorkerUpdatedDetail = WorkerDetail.extend({ changed: z.array(z.string()).optional() });
export const WorkerLifeDetail = WorkerDetail.extend({ pid: z.int().positive().optional(), lastSeenAt: time });
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

export const VerificationDetail = Detail.extend({
  summary: text,
  findings: z.array(z.string()).optional(),
  advisory: z.boolean().optional().describe('true when a failure does not block the wave'),
  url: text,
});

export const TicketPhaseDetail = Detail.extend({ from: text, to: z.string() });
export const TicketMoveDetail = Detail.extend({ from: text, to: z.string(), stateId: text, phase: text });

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
});
export const AttentionResolvedDetail = Detail.extend({ reason: AttentionReason, message: text, by: text });

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
  ...topicFamily('orchestrator.worker', ['updated'], WorkerUpdatedDetail),
  ...topicFamily('orchestrator.worker', ['died', 'revived', 'removed'], WorkerLifeDetail),
  ...topicFamily('orchestrator.worker', ['corrupt'], WorkerCorruptDetail),
  ...topicFamily('orchestrator.deploy', ['started', 'succeeded', 'failed', 'timed_out'], DeployDetail),
  ...topicFamily('orchestrator.verification', ['started', 'passed', 'failed'], VerificationDetail),
  ...topicFamily('workflow.ticket', ['phase_changed'], TicketPhaseDetail),
  ...topicFamily('workflow.ticket', ['state_moved'], TicketMoveDetail),
  ...topicFamily('comms', ['attention'], AttentionDetail),
  ...topicFamily('comms', ['attention_resolved'], AttentionResolvedDetail),
  ...topicFamily('monitor.feed', feedGrades, FeedDetail),
  ...topicFamily('monitor.daemon', ['started', 'stopped'], DaemonDetail),
  ...topicFamily('feedback', ['finding_added'], FindingDetail),
  ...topicFamily('feedback', ['finding_filed'], FindingFiledDetail),
  ...topicFamily('feedback', ['drained'], DrainDetail),
  ...topicFamily('archive', ['swept', 'pruned', 'restored'], ArchiveDetail),
};

export type AttentionDetail = z.infer<typeof AttentionDetail>;
export type FeedDetail = z.infer<typeof FeedDetail>;
