// One thing of the board as a line of a prompt. Only facts: times are told as they were, and nothing in a line
// depends on when it is asked, so that the same state always gives the same line.
import type { AttentionItem } from '../state/attention-item.ts';
import { mergeReadiness } from '../state/merge-readiness.ts';
import type { PullRequest } from '../state/pull-request.ts';
import { contradictionsIn } from '../state/views/doubts.ts';
import { ruleOf, waitOf } from '../state/views/rule.ts';
import { nameOfPullRequest, type Subject } from '../state/views/subject.ts';
import type { Worker } from '../state/worker.ts';
import type { DataLine } from './fence.ts';

const severities = ['high', 'medium', 'low'];

export function sortedAttention(items: readonly AttentionItem[]): AttentionItem[] {
  return items.toSorted((a, b) => rankOf(a) - rankOf(b) || a.openedSeq - b.openedSeq || byText(a.id, b.id));
}

/** How often it was raised is left out: it changes without anything being new. */
export function attentionLine(item: AttentionItem): DataLine {
  const { ticket, feed, reason, severity, message, remedy, openedAt, acknowledged, snoozedUntil } = item;
  return {
    kind: 'attention',
    severity,
    reason,
    ticket,
    feed,
    message,
    remedy,
    openedAt,
    snoozedUntil,
    acknowledgedBy: acknowledged?.by,
  };
}

export function workerLine(subject: Subject, worker: Worker): DataLine {
  const { tracked, pullRequest } = subject;
  const contradictions = contradictionsIn(subject);
  const { waitsFor, until } = waitOf(subject);
  return {
    kind: 'worker',
    ticket: worker.ticket,
    title: tracked?.title,
    ticketState: tracked?.state?.name,
    status: worker.status,
    since: worker.statusSince,
    phase: worker.phase,
    wave: worker.wave,
    process: worker.life.state,
    because: ruleOf(subject),
    waitsFor,
    until,
    contradictions: contradictions.length > 0 ? contradictions : undefined,
    error: worker.signal?.error,
    signalFile: worker.corrupt === null ? undefined : 'cannot be read',
    pullRequest: pullRequest === null ? undefined : pullRequestOf(pullRequest),
    deploy: worker.deploy === null ? undefined : deployOf(worker.deploy),
  };
}

function pullRequestOf(pullRequest: PullRequest): DataLine {
  const { ready, reasons } = mergeReadiness(pullRequest);
  return {
    name: nameOfPullRequest(pullRequest),
    title: pullRequest.title,
    state: pullRequest.state,
    draft: pullRequest.draft,
    checks: pullRequest.checks.map(({ name, conclusion }) => `${name}: ${conclusion ?? 'running'}`),
    unresolvedThreads: pullRequest.unresolvedThreads.length,
    ...(pullRequest.state === 'open' && { ready, notReadyBecause: reasons }),
    mergedAt: pullRequest.merge?.at,
  };
}

function deployOf({ environment, attempts, deadline, result, completedAt }: NonNullable<Worker['deploy']>) {
  return { environment, failedAttempts: attempts.length, deadline, result, completedAt };
}

function rankOf({ severity }: AttentionItem): number {
  const index = severities.indexOf(severity);
  return index < 0 ? severities.length : index;
}

/** By code units: no locale may change what a prompt is made of. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
