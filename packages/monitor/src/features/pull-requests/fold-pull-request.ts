// Events of pull requests: their own, and those of reviews, checks and comments.

import type { Board } from '../../kernel/board/board.ts';
import { ask, type Fold, type FoldContext, on } from '../../kernel/board/fold-context.ts';
import { commitKey, pullRequestKey } from '../../kernel/board/keys.ts';
import { linked } from '../../kernel/board/links.ts';
import { topicsIn } from '../../kernel/log/topic-family.ts';
import {
  checkSuiteActions,
  commentActions,
  ownPullRequestActions,
  pullRequestActions,
  reviewActions,
  reviewThreadActions,
} from '../codehost/topics.ts';
import { workerKey } from '../workers/reduce-worker.ts';
import { putWorker } from '../workers/slice.ts';
import { isOver } from '../workers/status-groups.ts';
import { withOwnAttention } from '../workers/worker-attention.ts';
import { workersNear, workersOfPullRequest } from './own-pull-request.ts';
import type { KnownPullRequest } from './poll-differences.ts';
import type { MergeReadiness, PullRequest } from './pull-request.ts';
import { ALL_CHECKS, checkSummary } from './pull-request-verdict.ts';
import {
  type JudgementLine,
  type OwnLine,
  pullRequestNumbers,
  reducePullRequest,
} from './reduce-pull-request.ts';
import { putPullRequest } from './slice.ts';

/** A pull request after one of its own events. */
export type PullRequestChange = {
  known: PullRequest | undefined;
  next: PullRequest;
  /** It may belong to other workers than before. */
  isRelinked: boolean;
  /** The workers that may own it, or may have owned it before. */
  near: readonly string[];
};

declare module '../../kernel/board/fold-context.ts' {
  interface FoldSteps {
    /** What a pull request with a new head commit takes from the board. */
    headSteps: readonly ((board: Board, pullRequest: PullRequest) => PullRequest)[];
    /** What follows once it is on the board. */
    pullRequestSteps: readonly ((context: FoldContext, change: PullRequestChange) => void)[];
    /** What follows from a review or a check. */
    judgementSteps: readonly ((
      context: FoldContext<JudgementLine['event']>,
      pullRequest: PullRequest,
    ) => void)[];
  }
}

function foldPullRequest(context: FoldContext<OwnLine['event']>): void {
  const { board, line, steps } = context;
  const { repo, pr } = line.scope;
  if (repo === undefined || pr === undefined) return;
  const known = board.pullRequests.get(pullRequestKey(repo, pr));
  const reduced = reducePullRequest(known, line);
  if (reduced === undefined) return;
  const next =
    reduced.headSha === known?.headSha
      ? reduced
      : steps.headSteps.reduce((before, step) => step(board, before), reduced);
  const isRelinked =
    next.branch !== known?.branch || next.headRepo !== known.headRepo || next.ticket !== known.ticket;
  // Workers that it belonged to before may no longer own it.
  const before = known === undefined || !isRelinked ? [] : workersNear(board, known);
  putPullRequest(board, next);
  checkAttention(context, claimantsOf(board, known, next));
  const near = [...before, ...workersNear(board, next)];
  for (const step of steps.pullRequestSteps) step(context, { known, next, isRelinked, near });
  if (next.state !== known?.state || isRelinked) checkAttention(context, near);
}

function checkAttention(context: FoldContext, workers: readonly string[]): void {
  for (const key of new Set(workers)) {
    const worker = context.board.workers.get(key);
    const checked = worker && withOwnAttention(context, worker);
    if (checked !== undefined && checked !== worker) putWorker(context.board, checked);
  }
}

/** Workers whose claim it may prove by the ticket that it names alone. */
function claimantsOf(board: Board, known: PullRequest | undefined, next: PullRequest): string[] {
  const name = next.ticket?.toUpperCase();
  if (name === undefined || known?.ticket?.toUpperCase() === name) return [];
  const claimants = [...board.workers.values()].filter(({ raised }) => raised.includes('pr-unproven'));
  return claimants.filter(({ ticket }) => ticket.toUpperCase() === name).map(({ key }) => key);
}

function foldJudgement(context: FoldContext<JudgementLine['event']>): void {
  const { board, line, steps } = context;
  for (const key of keysOf(context)) {
    const known = board.pullRequests.get(key);
    const next = reducePullRequest(known, line);
    if (next === undefined) continue;
    const asked = withRefresh(context, next);
    if (asked === known) continue;
    putPullRequest(board, asked);
    for (const step of steps.judgementSteps) step(context, asked);
  }
}

function keysOf({ board, line }: FoldContext<JudgementLine['event']>): readonly string[] {
  const { repo, sha } = line.scope;
  if (repo === undefined) return [];
  const numbers = pullRequestNumbers(line);
  if (numbers.length > 0) return numbers.map((number) => pullRequestKey(repo, number));
  return sha === undefined ? [] : linked(board.links.pullRequestsByHead, commitKey(repo, sha));
}

/** Asks the code host whether it can be merged, if that is unknown and a worker waits for it. */
function withRefresh(context: FoldContext, pullRequest: PullRequest): PullRequest {
  const { board, line } = context;
  if (pullRequest.state !== 'open' || pullRequest.askedSeq !== null || line.via === 'poll')
    return pullRequest;
  if (mergeReadiness(pullRequest).ready !== null) return pullRequest;
  if (workersOfPullRequest(board, pullRequest).every(isOver)) return pullRequest;
  const { repo, number } = pullRequest;
  ask(context, pullRequestKey(repo, number), { kind: 'refresh-pull-request', repo, pr: number });
  return { ...pullRequest, askedSeq: line.seq };
}

/** A poll of the code host found no pull request for a worker that claims one. */
function foldUnseen(context: FoldContext<'monitor.claim.unseen'>): void {
  const { board, line } = context;
  const { orchestrator, ticket } = line.scope;
  const worker = board.workers.get(workerKey(orchestrator ?? '', ticket ?? ''));
  if (worker === undefined || line.source !== 'monitor') return;
  const touched = { unseenSeq: line.seq, lastSeq: line.seq, lastAt: line.ts };
  putWorker(board, withOwnAttention(context, { ...worker, ...touched }));
}

export const pullRequestFolds: readonly Fold[] = [
  on(topicsIn('codehost.pr', [...pullRequestActions, ...ownPullRequestActions]), foldPullRequest),
  on(
    [
      ...topicsIn('codehost.pr_review', reviewActions),
      ...topicsIn('codehost.pr_review_thread', reviewThreadActions),
      ...topicsIn('codehost.pr_review_comment', commentActions),
      ...topicsIn('codehost.issue_comment', commentActions),
      ...topicsIn('codehost.check_suite', checkSuiteActions),
    ],
    foldJudgement,
  ),
];

export const claimFolds: readonly Fold[] = [on(['monitor.claim.unseen'], foldUnseen)];

// Whether a pull request can be merged now. The code host decides by rules that it does not publish, so its own merge
// state counts most; without it, the known obstacles are listed, else the answer is "unknown".

type Judged = Pick<
  PullRequest,
  | 'state'
  | 'draft'
  | 'mergeable'
  | 'mergeableState'
  | 'base'
  | 'checks'
  | 'reviews'
  | 'reviewDecision'
  | 'unresolvedThreads'
>;

/** The code host's states for "all requirements are met". */
const free = new Set(['clean', 'unstable', 'has_hooks']);

export function mergeReadiness(pullRequest: Judged): MergeReadiness {
  const { state, mergeableState } = pullRequest;
  if (state === 'merged') return { ready: false, reasons: ['it is already merged'] };
  if (state === 'closed') return { ready: false, reasons: ['it is closed'] };
  const hard = hardReasons(pullRequest);
  const checks = checkSummary(pullRequest);
  const soft = softReasons(pullRequest, checks.failed);
  const running = checks.running.length > 0 ? [`checks running: ${listed(checks.running)}`] : [];
  const reasons = [...hard, ...soft, ...running];
  if (hard.length > 0) return { ready: false, reasons };
  if (mergeableState !== null && free.has(mergeableState)) return { ready: true, reasons };
  if (mergeableState === 'blocked')
    return {
      ready: false,
      reasons: reasons.length > 0 ? reasons : ['a repository rule on the code host blocks it'],
    };
  if (soft.length > 0) return { ready: false, reasons };
  return { ready: null, reasons: [...running, 'the code host has not reported whether it can be merged'] };
}

function hardReasons({ draft, mergeable, mergeableState, base }: Judged): string[] {
  const target = base ?? 'its base branch';
  const reasons: string[] = [];
  if (draft === true || mergeableState === 'draft') reasons.push('it is a draft');
  if (mergeable === false || mergeableState === 'dirty') reasons.push(`it conflicts with ${target}`);
  if (mergeableState === 'behind') reasons.push(`it is behind ${target}`);
  return reasons;
}

function softReasons(pullRequest: Judged, failed: readonly string[]): string[] {
  const { reviews, reviewDecision, unresolvedThreads } = pullRequest;
  const objectors = reviews.filter(({ state }) => state === 'changes_requested');
  const reasons: string[] = [];
  if (failed.length > 0) reasons.push(`checks failed: ${listed(failed)}`);
  if (reviewDecision === 'changes_requested' || (reviewDecision === null && objectors.length > 0)) {
    const names = objectors.map(({ reviewer }) => reviewer);
    reasons.push(names.length > 0 ? `changes requested by ${listed(names)}` : 'changes requested');
  }
  const threads = unresolvedThreads.length;
  if (threads > 0) reasons.push(threads === 1 ? '1 unresolved thread' : `${threads} unresolved threads`);
  return reasons;
}

function listed(names: readonly string[]): string {
  const first = [...new Set(names)];
  return first.length <= 3
    ? first.join(', ')
    : `${first.slice(0, 3).join(', ')} and ${first.length - 3} more`;
}

// A pull request in the form that a reconciliation compares.

export function knownPullRequest(pullRequest: PullRequest): KnownPullRequest {
  const { state, draft, headSha, verdict, checks, mergeableState, merge, asOf } = pullRequest;
  const whole = checks.find(({ name }) => name === ALL_CHECKS)?.conclusion;
  return {
    state,
    draft: draft ?? undefined,
    headSha: headSha ?? undefined,
    verdict: verdict ?? undefined,
    checks: whole === 'success' || whole === 'failure' ? whole : undefined,
    mergeableState: mergeableState ?? undefined,
    mergeSha: merge?.sha ?? undefined,
    asOf: String(asOf),
  };
}
