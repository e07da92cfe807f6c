// The detail of our own events: runs, waves, workers, deploys, verification, tickets, feeds, the daemon,
// findings and archives. What an event is about is in its scope.
import { WorkerPhase, WorkerStatus } from '@svc/contract/signal-file';
import { z } from 'zod';
import { Detail, topicFamily } from '../kernel/log/topic-family.ts';
import { AgentRequest, toolStatuses, verifierVerdicts, WorkerAgent } from './agents/schemas.ts';
import { attentionDetails } from './attention/topics.ts';
import {
  ConfigAppliedDetail,
  DeployDecisionDetail,
  DeployDetail,
  DescendantDetail,
  PolicyRelaxedDetail,
} from './deploy/topics.ts';
import { FindingSeverity } from './findings/findings.ts';
import { hookAnswers, hookedAgents } from './sessions/hook-event.ts';
import { sessionSources } from './sessions/hooks.ts';
import { commandEnds, TeamCommand } from './team/command.ts';
import { TicketDigest, ticketParts } from './tracker/ticket-change.ts';
import { recallCauses } from './workers/reaction-causes.ts';

const text = z.string().optional();
const count = z.int().nonnegative().optional();
const time = z.iso.datetime({ offset: true }).optional();
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

/** `signal` is the signal file after the change, so a reducer never has to read a file. `hash` identifies its content. */
const WorkerDetail = Detail.extend({
  signal: z.record(z.string(), z.unknown()).optional(),
  hash: text,
  changed: z.array(z.string()).optional().describe('the changed fields of the file'),
  reason: text,
});
const WorkerDispatchedDetail = WorkerDetail.extend({ command: text, model: text, worktreePath: text });
const WorkerStatusDetail = WorkerDetail.extend({ from: WorkerStatus.optional(), to: WorkerStatus });
const WorkerPhaseDetail = WorkerDetail.extend({ from: WorkerPhase.optional(), to: WorkerPhase });
const WorkerProcessDetail = WorkerDetail.extend({
  pid: z.int().positive().optional(),
  lastSeenAt: time,
  willRevive: z.boolean().optional().describe('true when a new process is about to start'),
  stderr: text.describe('the last lines of its standard error'),
});
/** A person restarts the worker. */
const WorkerRetriedDetail = Detail.extend({ by: z.string(), note: text });
/** Its agent is started again to handle failed checks, a review or a message. */
const WorkerRecallDetail = Detail.extend({
  reason: z.enum(recallCauses),
  number: count.describe('how often for this reason, from 1'),
});
/** What its agent has of the text of its ticket: in the first prompt of a session, or from a message. */
const TicketGivenDetail = Detail.extend({ digest: TicketDigest });
const TicketChangedDetail = TicketGivenDetail.extend({
  changed: z.array(z.enum(ticketParts)).describe('what is new since its agent was given it'),
  message: z.string().describe('the message to the agent; text of others is between fences'),
});
const WorkerCorruptDetail = Detail.extend({ path: z.string(), problem: z.string() });

const VerificationDetail = Detail.extend({
  summary: text,
  findings: z.array(z.string()).optional(),
  advisory: z.boolean().optional().describe('true when a failure does not block the wave'),
  blocking: count.describe('how many findings block it'),
  testCommand: text,
  exitCode: z.int().optional().describe('the exit code of the test command'),
  durationMs: count,
  logPath: text.describe('the file with the complete output'),
  verifier: z
    .object({ agent: z.string(), verdict: z.enum(verifierVerdicts), reason: text })
    .optional()
    .describe('what the agent in svc.orchestration.verifier found; only done means done'),
  url: text,
});

/** What was filed about a failed verification, which then no longer blocks. */
const RemediationDetail = Detail.extend({
  destination: z.enum(['tracker', 'finding']),
  filedAs: text.describe('ticket id'),
  url: text,
});

const TicketPhaseDetail = Detail.extend({ from: text, to: z.string(), skill: text });
const TicketMoveDetail = Detail.extend({ from: text, to: z.string(), stateId: text, phase: text });

/** A label or an assignment in the tracker asked for a run; `line` is that event. */
const TicketDispatchDetail = Detail.extend({
  because: z.string().describe('the label or the assignment'),
  by: text.describe('who set it'),
  line: z.int().positive(),
});
const TicketDispatchedDetail = TicketDispatchDetail.extend({ run: z.string() });
const TicketRefusedDetail = TicketDispatchDetail.extend({
  reason: z.string(),
  remedy: text,
  invited: z.boolean().describe('an allowed person asked for it; others share one attention item'),
});

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
  notify: z.object({ message: z.string(), severity: FindingSeverity }).optional(),
  attention: z.object({ message: z.string(), severity: FindingSeverity, remedy: text }).optional(),
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

/** A poll of the code host found no pull request for a worker that claims one. */
const ClaimUnseenDetail = Detail.extend({ status: WorkerStatus });

export const feedGrades = ['live', 'late', 'degraded', 'blind', 'disabled', 'connecting'] as const;
const FeedDetail = Detail.extend({
  feed: z.string(),
  from: z.enum(feedGrades).optional(),
  reason: text,
  remedy: text,
  since: time,
});

const DaemonDetail = Detail.extend({
  version: text,
  pid: z.int().positive().optional(),
  port: count,
  reason: text,
});

/**
 * The configuration of a project from this line on. Only what decides about later events is included: the deploy
 * policies, by which a merge is done or waits, and what in the tracker starts a run.
 */
/** Written by the doctor only to be read back. */
const DaemonCheckedDetail = Detail.extend({ by: text });

const FindingDetail = Detail.extend({
  title: z.string(),
  severity: FindingSeverity.optional(),
  skill: text,
  tags: z.array(z.string()).optional(),
});
const FindingFiledDetail = FindingDetail.extend({
  destination: z.enum(['tracker', 'codehost']),
  filedAs: text.describe('ticket id or issue number'),
  url: text,
});
const DrainDetail = Detail.extend({ file: text, filed: z.int().nonnegative(), failed: count });

// Agents that svc talks to. Only what happened, without the content of tools: the journal has that.
const AgentDetail = Detail.extend({ attempt: z.int().positive() });
const AgentSessionDetail = AgentDetail.extend({
  agent: z.string(),
  version: text,
  protocol: z.boolean().describe('false: a command line that svc cannot talk to'),
  how: z.enum(['new', 'resume', 'load']).optional(),
  sessionId: text,
  mode: text,
  model: text,
  images: WorkerAgent.shape.images,
  costOf: WorkerAgent.shape.costOf.optional(),
  reason: text.describe('why it runs as a command line'),
});
const AgentFailedDetail = AgentDetail.extend({ problem: z.string() });
const AgentEndedDetail = AgentDetail.extend({ exitCode: z.int().optional(), signal: text });
const AgentAmounts = {
  context: WorkerAgent.shape.context.optional(),
  tokens: WorkerAgent.shape.tokens.optional(),
  cost: WorkerAgent.shape.cost.optional(),
};
const AgentTurnDetail = AgentDetail.extend({
  turn: z.int(),
  text: text.describe('the start of the prompt'),
  by: text,
  ok: z.boolean().optional(),
  reason: text.describe('why it ended'),
  queued: count.describe('messages that are sent next'),
  ...AgentAmounts,
});
const AgentToolDetail = AgentDetail.extend({
  tool: z.string().describe('its id'),
  title: z.string(),
  kind: text,
  status: z.enum(toolStatuses),
  paths: z.array(z.string()).optional(),
  exitCode: z.int().optional(),
});
const AgentRequestDetail = AgentDetail.extend({ request: AgentRequest });
const AgentAnswerDetail = AgentDetail.extend({
  request: z.string().describe('its id'),
  answer: z.string().describe('the kind of the option, cancelled, or withdrawn by the agent'),
  running: z.boolean().describe('whether a turn goes on'),
  by: text,
});
const AgentMessageDetail = AgentDetail.extend({ text: z.string() });
const AgentPlanDetail = AgentDetail.extend({
  entries: z.array(z.object({ content: z.string(), status: z.string() })),
});
const AgentModeDetail = AgentDetail.extend({
  mode: text,
  model: text,
  by: text.describe('who changed it; absent: the agent did, or svc at the start'),
});
const AgentUsageDetail = AgentDetail.extend(AgentAmounts);
/** The provider's usage limit. Attempt and turn identify it. */
const AgentLimitDetail = AgentDetail.extend({
  turn: z.int().describe('0: of a command line'),
  text: z.string().describe('as the agent reports it'),
  until: WorkerAgent.shape.limit.unwrap().shape.until.optional(),
  unpaid: z.boolean().optional().describe('true: waiting does not end it'),
});
const AgentLimitOverDetail = AgentDetail.extend({ turn: z.int() });
/** A person stopped what the agent was doing. */
const AgentStoppedDetail = AgentDetail.extend({ by: z.string() });
/** Its process is ended, because it had nothing to do; its next message starts it again. */
const AgentSuspendedDetail = AgentDetail.extend({
  minutes: z.int().describe('how long it had nothing to do'),
});

/** Agents that people start themselves. The state is the topic's last part. */
const SessionDetail = Detail.extend({
  agent: z.enum(hookedAgents),
  folder: z.string().describe('the worktree, or the folder outside of one'),
  known: z.enum(sessionSources).describe('how the state is known'),
  tool: text.describe('the tool that it asks permission for'),
  reason: text.describe('why the state is unknown, or how the session ended'),
  pid: z.int().positive().optional(),
  pidStartedAt: text.describe('identifies the process besides its pid'),
  open: z.array(AgentRequest).optional().describe('requests that can be answered through svc'),
});
/** A person has answered a request through svc. */
const SessionAnswerDetail = Detail.extend({
  request: z.string().describe('its id'),
  tool: z.string(),
  answer: z.enum(hookAnswers),
  by: z.string(),
});
export const sessionTopicNames = [
  'running',
  'needs_permission',
  'needs_input',
  'idle',
  'ended',
  'unknown',
] as const;

/** The machines of the team from this line on; none: this machine has left it. */
const TeamRosterDetail = Detail.extend({
  team: text.describe('its name'),
  version: count.describe('of the roster'),
  machines: z.array(
    z.object({ id: z.string(), machine: z.string(), person: z.string(), role: z.enum(['admin', 'member']) }),
  ),
});
/** What another machine of the team has published: signed, decrypted and checked before it became a line. */
const TeamRecordDetail = Detail.extend({
  machine: z.string().describe('its id'),
  kind: z.string(),
  key: z.string().describe('the key of the thing on the board of that machine'),
  version: z.int(),
  value: z.record(z.string(), z.unknown()).optional(),
});

const ofCommand = {
  command: z.string().describe('its id'),
  from: z.string().describe('the id of the machine that asks'),
};
/** A command to a machine of the team: `sent` at the machine that asks, `received` at the one that executes it. */
const TeamCommandDetail = Detail.extend({
  ...ofCommand,
  to: z.string().describe('the id of the machine that is asked'),
  request: TeamCommand,
  expiresAt: z.iso.datetime(),
  by: text.describe('who asks'),
});
/** At both machines. */
const TeamCommandEndDetail = Detail.extend({
  ...ofCommand,
  state: z.enum(commandEnds),
  why: text,
  remedy: text,
  by: text.describe('who asked'),
});
const ArchiveDetail = Detail.extend({
  orchestrators: z.array(z.string()).optional(),
  files: count,
  bytes: count,
  olderThanDays: z.number().optional(),
  path: text,
});

export const retentionKinds = ['worktrees', 'runs', 'journals', 'archives', 'logs', 'event log'] as const;
const RetentionDetail = Detail.extend({
  kind: z.enum(retentionKinds),
  name: z.string(),
  path: z.string(),
  bytes: count,
  reason: z.string().describe('the policy that removed it'),
  by: text,
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
  ...topicFamily('orchestrator.ticket', ['given'], TicketGivenDetail),
  ...topicFamily('orchestrator.ticket', ['changed'], TicketChangedDetail),
  ...topicFamily('orchestrator.deploy', ['started', 'succeeded', 'failed', 'timed_out'], DeployDetail),
  ...topicFamily('orchestrator.deploy', ['retried', 'accepted'], DeployDecisionDetail),
  ...topicFamily('orchestrator.deploy', ['descendant_checked'], DescendantDetail),
  ...topicFamily('orchestrator.deploy', ['policy_relaxed'], PolicyRelaxedDetail),
  ...topicFamily('orchestrator.verification', ['started', 'passed', 'failed'], VerificationDetail),
  ...topicFamily('orchestrator.verification', ['remediation_filed'], RemediationDetail),
  ...topicFamily('workflow.ticket', ['phase_changed'], TicketPhaseDetail),
  ...topicFamily('workflow.ticket', ['state_moved'], TicketMoveDetail),
  ...topicFamily('workflow.ticket', ['dispatched'], TicketDispatchedDetail),
  ...topicFamily('workflow.ticket', ['dispatch_refused'], TicketRefusedDetail),
  ...topicFamily('workflow.task', ['requested'], TaskRequestedDetail),
  ...topicFamily('workflow.task', ['filing'], TaskDetail),
  ...topicFamily('workflow.task', ['filed'], TaskFiledDetail),
  ...topicFamily('workflow.task', ['started'], TaskStartedDetail),
  ...topicFamily('workflow.task', ['refused'], TaskRefusedDetail),
  ...topicFamily('workflow.rule', ['switched_on', 'switched_off'], RuleSwitchedDetail),
  ...topicFamily('workflow.rule', ['scanned'], RuleScannedDetail),
  ...topicFamily('workflow.rule', ['fired'], RuleFiredDetail),
  ...topicFamily('workflow.rule', ['failed'], RuleFailedDetail),
  ...topicFamily('workflow.rule', ['command_started'], RuleCommandDetail),
  ...topicFamily('workflow.rule', ['command_ended'], RuleCommandEndedDetail),
  ...attentionDetails,
  ...topicFamily('monitor.claim', ['unseen'], ClaimUnseenDetail),
  ...topicFamily('monitor.feed', feedGrades, FeedDetail),
  ...topicFamily('monitor.daemon', ['started', 'stopped'], DaemonDetail),
  ...topicFamily('monitor.daemon', ['checked'], DaemonCheckedDetail),
  ...topicFamily('monitor.config', ['applied'], ConfigAppliedDetail),
  ...topicFamily('feedback', ['finding_added'], FindingDetail),
  ...topicFamily('feedback', ['finding_filed'], FindingFiledDetail),
  ...topicFamily('feedback', ['drained'], DrainDetail),
  ...topicFamily('agent.session', ['started'], AgentSessionDetail),
  ...topicFamily('agent.session', ['failed'], AgentFailedDetail),
  ...topicFamily('agent.session', ['ended'], AgentEndedDetail),
  ...topicFamily('agent.turn', ['started', 'ended'], AgentTurnDetail),
  ...topicFamily('agent.tool', ['started', 'ended'], AgentToolDetail),
  ...topicFamily('agent.request', ['opened'], AgentRequestDetail),
  ...topicFamily('agent.request', ['answered'], AgentAnswerDetail),
  ...topicFamily('agent', ['message'], AgentMessageDetail),
  ...topicFamily('agent', ['plan_changed'], AgentPlanDetail),
  ...topicFamily('agent', ['mode_changed'], AgentModeDetail),
  ...topicFamily('agent', ['usage'], AgentUsageDetail),
  ...topicFamily('agent.limit', ['reached'], AgentLimitDetail),
  ...topicFamily('agent.limit', ['over'], AgentLimitOverDetail),
  ...topicFamily('agent', ['stopped'], AgentStoppedDetail),
  ...topicFamily('agent', ['suspended'], AgentSuspendedDetail),
  ...topicFamily('session', sessionTopicNames, SessionDetail),
  ...topicFamily('session', ['answered'], SessionAnswerDetail),
  ...topicFamily('team.roster', ['changed'], TeamRosterDetail),
  ...topicFamily('team.record', ['changed', 'removed'], TeamRecordDetail),
  ...topicFamily('team.command', ['sent', 'received'], TeamCommandDetail),
  ...topicFamily('team.command', ['ended'], TeamCommandEndDetail),
  ...topicFamily('team.command', ['closed'], Detail.extend(ofCommand)),
  ...topicFamily('archive', ['swept', 'pruned', 'restored'], ArchiveDetail),
  ...topicFamily('monitor.retention', ['removed'], RetentionDetail),
};

type FeedDetail = z.infer<typeof FeedDetail>;
