// The board's entities as the API returns them: workers, pull requests, deployments, tickets, runs, attention, feeds. The
// board's own types (state/board-types.ts) follow from these.
import { WorkerPhase } from '@svc/contract/signal-file';
import { z } from 'zod';
import { Seq, Time } from '../../kernel/http/api-route.ts';
import { EventVia } from '../../kernel/log/event-line.ts';
import { AgentCost, AgentRequest, Waited, WorkerAgent } from '../agents/schemas.ts';
import { DeploymentState, deployFields } from '../deploy/api.ts';
import { hookedAgents } from '../sessions/hook-event.ts';
import { sessionSources, sessionStates } from '../sessions/hooks.ts';
import { ticketPhases } from '../tracker/ticket-phases.ts';
import { recallCauses } from '../workers/reaction-causes.ts';

const key = z.string().describe('Unique among entities of its kind, and stable');
const last = { lastSeq: Seq.describe('The last event about it'), lastAt: Time };

export type WorkerView = z.infer<typeof Worker>;
export const Worker = z
  .object({
    key,
    orchestrator: z.string().describe('The run'),
    ticket: z.string(),
    name: z.string(),
    statusSince: Time,
    statusSeq: Seq.describe('The event that set the status'),
    ...deployFields,
    phase: WorkerPhase.nullable(),
    repo: z.string().nullable().describe('owner/name'),
    branch: z.string().nullable(),
    wave: z.int().nullable(),
    pr: z.object({ number: z.int(), url: z.string().nullable() }).nullable(),
    process: z
      .object({
        state: z.enum(['alive', 'dead', 'unknown']),
        since: Time,
        seq: Seq,
        reviving: z.literal(true).exactOptional().describe('A new process is about to start'),
        stderr: z
          .string()
          .exactOptional()
          .describe('For a dead process: the last lines of its standard error'),
      })
      .describe('The state of its process'),
    corrupt: z
      .object({ path: z.string(), problem: z.string(), seq: Seq, at: Time.nullable().default(null) })
      .nullable()
      .describe('Set while its signal file cannot be read'),
    removed: z.boolean().describe('Its signal file was deleted'),
    verification: z
      .object({
        state: z.enum(['running', 'passed', 'failed']),
        sha: z.string().nullable(),
        summary: z.string().nullable(),
        advisory: z.boolean().describe('True: a failure does not block anything'),
        remediation: z.string().nullable().describe('The ticket or finding filed about a failure'),
        seq: Seq,
        at: Time.nullable().default(null),
      })
      .nullable()
      .describe('The verification of its merge commit'),
    retriedAt: Time.nullable().describe('When a person last restarted it'),
    reactions: z
      .object({ checks: z.array(z.string()).readonly(), review: z.array(z.string()).readonly() })
      .readonly()
      .describe('Ids of the failed checks and reviews that were reported to it'),
    recall: z
      .object({ cause: z.enum(recallCauses), at: Time, seq: Seq })
      .nullable()
      .describe('Set while an agent has to be started to handle a failed check, a review or a message'),
    recalls: z.int(),
    agent: WorkerAgent.nullable().describe('Its agent; null: none was started yet'),
    error: z.string().nullable(),
    cost: AgentCost.nullable().describe('Of all attempts of its agent; null: unknown'),
    costByDay: z
      .array(z.object({ day: z.string(), usd: z.number() }))
      .readonly()
      .exactOptional()
      .describe('The newest days (UTC) of its cost; absent: only a total is known'),
    waited: Waited.exactOptional().describe(
      'How long its agents have waited for people; absent: not reported',
    ),
    attempts: z.int().describe('Failed deployments'),
    budget: z.int().describe('How many may fail before a person has to decide'),
    pullRequest: z.string().nullable().describe('The linked pull request, owner/name#number'),
    pullRequestKey: z.string().nullable().describe('Its key in pullRequests'),
    rule: z.string().describe('Why it has this status, as a sentence'),
    waitsFor: z.string().nullable(),
    until: Time.nullable(),
    contradictions: z.array(z.string()).describe('Where the facts disagree'),
    needs: z
      .array(z.string())
      .default([])
      .describe('The reasons why it needs a person, from its state: not from attention items'),
    ...last,
  })
  .meta({ id: 'Worker' });

/** On the board of a team. */
export type TeamWorkerView = z.infer<typeof TeamWorker>;
export const TeamWorker = Worker.extend({
  title: z
    .string()
    .nullable()
    .exactOptional()
    .describe('Of its ticket; of another machine only if that one shares titles'),
}).meta({ id: 'TeamWorker' });

export type PullRequestView = z.infer<typeof PullRequest>;
export const PullRequest = z
  .object({
    key,
    name: z.string().describe('owner/name#number'),
    repo: z.string(),
    number: z.int(),
    title: z.string().nullable(),
    url: z.string().nullable(),
    author: z.string().nullable(),
    branch: z.string().nullable(),
    headRepo: z.string().nullable(),
    base: z.string().nullable(),
    ticket: z.string().nullable(),
    state: z.enum(['open', 'closed', 'merged']),
    draft: z.boolean().nullable(),
    mergeable: z.boolean().nullable(),
    mergeableState: z.string().nullable(),
    headSha: z.string().nullable(),
    checks: z.array(
      z.object({
        name: z.string(),
        suiteId: z.int().nullable(),
        conclusion: z.string().nullable().describe('Null while it is running'),
        at: Time.nullable(),
        seq: Seq,
      }),
    ),
    reviews: z.array(z.object({ reviewer: z.string(), state: z.string(), at: Time.nullable(), seq: Seq })),
    reviewDecision: z.enum(['approved', 'changes_requested']).nullable(),
    unresolvedThreads: z.array(z.string()),
    previews: z.array(z.string()).describe('URLs of preview deployments'),
    openedAt: Time.nullable(),
    merge: z.object({ sha: z.string().nullable(), at: Time, seq: Seq, via: z.string() }).nullable(),
    closedAt: Time.nullable(),
    firstSeq: Seq,
    firstVia: EventVia,
    via: EventVia,
    readiness: z
      .object({ ready: z.boolean().nullable(), reasons: z.array(z.string()) })
      .describe('Whether it can be merged now; null: unknown'),
    ...last,
  })
  .meta({ id: 'PullRequest' });

export type Deployment = z.infer<typeof Deployment>;
export const Deployment = z
  .object({
    key,
    repo: z.string(),
    id: z.int(),
    sha: z.string(),
    ref: z.string().nullable(),
    task: z.string().nullable().describe('What the deployer did; null: not reported'),
    environment: z.string().describe('The environment of its newest state'),
    production: z.boolean().nullable(),
    state: DeploymentState,
    stateAt: Time,
    states: z.array(
      z.object({ state: DeploymentState, environment: z.string(), at: Time, seq: Seq, via: z.string() }),
    ),
    environmentUrl: z.string().nullable(),
    logUrl: z.string().nullable(),
    description: z.string().nullable(),
    ...last,
  })
  .meta({ id: 'Deployment' });

export type Ticket = z.infer<typeof Ticket>;
export const Ticket = z
  .object({
    key,
    ticket: z.string(),
    title: z.string().nullable(),
    url: z.string().nullable(),
    state: z
      .object({ id: z.string().nullable(), name: z.string().nullable(), type: z.string().nullable() })
      .nullable()
      .describe('The state in the tracker'),
    assignee: z.string().nullable(),
    priority: z.number().nullable(),
    labels: z.array(z.string()),
    phase: z
      .object({ phase: z.enum(ticketPhases), at: Time, seq: Seq })
      .nullable()
      .describe('The workflow phase'),
    removed: z.boolean(),
    local: z.literal(true).exactOptional().describe('Only svc knows it; no tracker is asked about it'),
    dispatch: z
      .object({
        run: z.string().nullable(),
        because: z.string().describe('The label or the assignment'),
        by: z.string().nullable().describe('Who set it'),
        reason: z.string().nullable().describe('Why no run was started'),
        remedy: z.string().nullable(),
        at: Time,
        seq: Seq,
      })
      .exactOptional()
      .describe('The last label or assignment that asked for a run, and the run or why there is none'),
    reportedAt: Time.nullable(),
    via: EventVia,
    ...last,
  })
  .meta({ id: 'Ticket' });

export type Run = z.infer<typeof Run>;
export const Run = z
  .object({
    key,
    orchestrator: z.string(),
    name: z.string().nullable(),
    state: z.enum(['running', 'paused', 'completed', 'canceled', 'unknown']),
    startedAt: Time.nullable(),
    endedAt: Time.nullable(),
    tickets: z.array(z.string()),
    plan: z
      .object({
        waves: z.array(z.array(z.string())),
        project: z.string(),
        base: z.string(),
        workerCommand: z.string(),
        workerModel: z.string(),
        maxParallel: z.int(),
        agent: z.string().optional().describe('The agent that was chosen for the run'),
        agents: z
          .record(z.string(), z.string())
          .optional()
          .describe('The agents that were chosen for single tickets'),
      })
      .nullable()
      .describe('Null for a run that svc does not orchestrate'),
    blockedBy: z.record(z.string(), z.array(z.string())).nullable(),
    maxParallel: z.int().nullable(),
    waves: z.array(
      z.object({
        wave: z.int(),
        state: z.enum(['started', 'completed', 'blocked']),
        tickets: z.array(z.string()),
        seq: Seq,
      }),
    ),
    ...last,
  })
  .meta({ id: 'Run' });

const attentionFields = {
  id: z.string().describe('<run or ->/<ticket or feed or session or ->/<reason>'),
  orchestrator: z.string().nullable(),
  ticket: z.string().nullable(),
  feed: z.string().nullable(),
  session: z.string().nullable().describe('The key of the session that it is about'),
  reason: z.string(),
  message: z.string(),
  remedy: z.string().nullable(),
  severity: z.string(),
  openedAt: Time,
  openedSeq: Seq,
  evidence: z.array(Seq).describe('The events that raised it, newest last, at most 20'),
  times: z.int(),
  acknowledged: z.object({ by: z.string(), at: Time }).nullable(),
  snoozedUntil: Time.nullable(),
  reportedBy: z
    .enum(['svc', 'helper'])
    .describe('helper: another program reported it, and svc has not verified it'),
  handedOver: z
    .object({
      to: z.string(),
      by: z.string(),
      at: Time,
      note: z.string().nullable(),
      pending: z
        .literal(true)
        .exactOptional()
        .describe('Another member asked for it, and no machine of that person has it yet'),
    })
    .nullable(),
};

export type AttentionItem = z.infer<typeof AttentionItem>;
export const AttentionItem = z.object(attentionFields).meta({
  id: 'AttentionItem',
});
export type AttentionEntry = z.infer<typeof AttentionEntry>;
export const AttentionEntry = z
  .object({
    ...attentionFields,
    ageMs: z.number().nonnegative(),
    machine: z
      .string()
      .exactOptional()
      .describe('The machine of the team that handed it over to this person'),
    person: z.string().exactOptional().describe('The person of that machine'),
  })
  .meta({ id: 'AttentionEntry' });
export const AttentionOnBoard = z.object({ key, ...attentionFields }).meta({ id: 'AttentionOnBoard' });

export type Feed = z.infer<typeof Feed>;
export const Feed = z
  .object({
    key,
    feed: z.string(),
    grade: z.string(),
    since: z.string(),
    reason: z.string().nullable(),
    remedy: z.string().nullable(),
    lastSeq: Seq,
  })
  .meta({ id: 'Feed' });

export type Session = z.infer<typeof Session>;
export const Session = z
  .object({
    key: z.string().describe('<agent>/<its session id>'),
    agent: z.enum(hookedAgents),
    folder: z.string().describe('The worktree, or the folder outside of one'),
    branch: z.string().nullable().describe('Null: none is checked out there'),
    state: z.enum(sessionStates),
    known: z.enum(sessionSources).describe('How the state is known'),
    since: Time.describe('When this state began'),
    tool: z.string().nullable().describe('The tool that it asks permission for'),
    reason: z.string().nullable().describe('Why the state is unknown, or how the session ended'),
    pid: z.int().nullable().describe('Null: the process is not known'),
    pidStartedAt: z.string().nullable(),
    open: z.array(AgentRequest).describe('Requests that can be answered through svc'),
    ...last,
  })
  .meta({ id: 'Session' });
