// The state of a ticket in the current wave, from the accepted state of its worker. Decided once, for dispatch,
// revival, verification and the wave itself.
import type { WorkerStatus } from '@svc/contract/signal-file';
import { isAgentsWork } from '@svc/contract/worker-statuses';
import { pausedBy } from '../agents/limits.ts';
import { isBudgetExhausted } from '../workers/deploy-stage.ts';
import type { RecallCause } from '../workers/reaction-causes.ts';
import { isPreMerge, isShipped } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import type { LiveAgent, ProjectLimits, Revivals, RunTimings, Verification } from './acts.ts';

export type Standing =
  | { is: 'complete' }
  /** Only a person, or a remediation, unblocks it. */
  | { is: 'blocked'; why: string }
  | { is: 'to-dispatch' }
  /** Its process is gone and its work is not done. `due` is the earliest time for the next step. */
  | { is: 'dead'; due: string; next: 'revive' | 'give-up' }
  /** Its agent is needed for a message. */
  | { is: 'recalled'; cause: RecallCause }
  /** Its process is gone, and it is not started again yet. */
  | { is: 'paused'; by: 'limit' | 'person' | 'idle'; until: string | null }
  | { is: 'claiming'; until: string }
  | { is: 'to-verify'; mergeSha: string }
  | { is: 'merge-commit-unknown' }
  /** In progress elsewhere: its agent, a reviewer, a deploy, a verification. */
  | { is: 'under-way' };

export type Subject = {
  worker: Worker | undefined;
  agent: LiveAgent | undefined;
  revivals: Revivals | undefined;
  verification: Verification | undefined;
};

const merged: ReadonlySet<WorkerStatus> = new Set(['merged', 'deploying', 'deploy-failed', 'done']);

export function standingOfTicket(
  subject: Subject,
  limits: ProjectLimits,
  timings: RunTimings,
  now: string,
): Standing {
  const { worker, agent, revivals } = subject;
  if (worker === undefined) {
    if (agent !== undefined) return { is: 'under-way' };
    return revivals === undefined ? { is: 'to-dispatch' } : dead(revivals, timings, now);
  }
  if (worker.status === 'canceled') return { is: 'complete' };
  if (isShipped(worker)) return afterDone(subject, worker, limits);
  const why = blockerOf(worker, agent !== undefined);
  if (why !== undefined) return { is: 'blocked', why };
  if (!isAgentsWork(worker.status))
    return recalled(subject, worker) ?? verifiable(subject, worker, limits) ?? { is: 'under-way' };
  if (agent !== undefined) return { is: 'under-way' };
  if (revivals === undefined) return { is: 'to-dispatch' };
  if (worker.agent?.suspended !== undefined) {
    const next = recalled(subject, worker) ?? paused(worker);
    if (next !== undefined) return next;
  }
  const until = claimHoldsUntil(worker, timings, now);
  return until > now ? { is: 'claiming', until } : (paused(worker) ?? dead(revivals, timings, now));
}

/** By a usage limit, by a person, or because it had nothing to do. A person's message or retry after it counts more. */
function paused({ agent, recall, retriedAt }: Worker): Standing | undefined {
  const limit = pausedBy(agent);
  const since = limit?.at ?? agent?.stopped?.at ?? agent?.suspended?.at;
  if (since === undefined || (retriedAt !== null && retriedAt > since)) return undefined;
  const isFor = recall?.cause === 'message' || (limit === null && (agent?.stopped ?? null) === null);
  if (recall !== null && isFor && recall.at > since) return undefined;
  if (limit !== null) return { is: 'paused', by: 'limit', until: limit.resumeAt };
  return { is: 'paused', by: (agent?.stopped ?? null) === null ? 'idle' : 'person', until: null };
}

/** The worker itself dates its claim: one from the future does not count. */
function claimHoldsUntil({ claim }: Worker, { claimSec }: RunTimings, now: string): string {
  const counts = claim !== null && merged.has(claim.status) && later(claim.at, 0) <= later(now, 60);
  return counts ? later(claim.at, claimSec) : now;
}

function blockerOf(worker: Worker, isLive: boolean): string | undefined {
  if (worker.status === 'failed') return 'failed';
  if (worker.status === 'stalled') return worker.deploy === null ? 'stalled' : 'its deploy timed out';
  if (isBudgetExhausted(worker)) return 'its deploy failed too often';
  // A live agent may write its file again.
  if (isLive || !isAgentsWork(worker.status)) return undefined;
  if (worker.removed) return 'its status file is gone';
  return worker.corrupt === null ? undefined : 'its status file cannot be read';
}

function afterDone(subject: Subject, worker: Worker, limits: ProjectLimits): Standing {
  // A person accepted it without a merge: there is no commit to verify.
  if (!limits.verifyBeforeMerge || worker.merge === null) return { is: 'complete' };
  const { verification } = subject;
  if (verification === undefined)
    return verifiable(subject, worker, limits) ?? { is: 'merge-commit-unknown' };
  if (verification.state === 'running') return { is: 'under-way' };
  const counts = verification.state === 'failed' && !limits.allowSelfReportedCompletion;
  return counts && verification.remediation !== 'filed'
    ? { is: 'blocked', why: 'its verification failed and no remediation is filed' }
    : { is: 'complete' };
}

/** A merge is verified as soon as its commit is known, in parallel with the deploy. */
function verifiable(subject: Subject, { merge }: Worker, limits: ProjectLimits): Standing | undefined {
  if (!limits.verifyBeforeMerge || subject.verification !== undefined) return undefined;
  return merge === null || merge.sha === null ? undefined : { is: 'to-verify', mergeSha: merge.sha };
}

/** Until an agent was launched after it, even if that is not in the log yet. */
function recalled({ agent, revivals }: Subject, worker: Worker): Standing | undefined {
  const { recall, status, merge } = worker;
  if (recall === null || agent !== undefined || merge !== null || !isPreMerge(status)) return undefined;
  const wasStarted = revivals?.lastLaunchAt !== undefined && revivals.lastLaunchAt > recall.at;
  return wasStarted ? undefined : (paused(worker) ?? { is: 'recalled', cause: recall.cause });
}

/** A program that cannot be started would fail the same way every time. */
function dead({ count, lastDeathAt, lastEnd }: Revivals, timings: RunTimings, now: string): Standing {
  const delay = lastEnd === 'unstartable' ? undefined : timings.revivalDelaysSec[count];
  return delay === undefined
    ? { is: 'dead', next: 'give-up', due: later(lastDeathAt ?? now, timings.settleSec) }
    : { is: 'dead', next: 'revive', due: later(lastDeathAt ?? now, delay) };
}

/** A time `seconds` later, in the format in which times compare as strings. */
export function later(at: string, seconds: number): string {
  return new Date(Date.parse(at) + seconds * 1000).toISOString();
}
