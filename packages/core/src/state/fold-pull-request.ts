// Lines of pull requests: their own, and what reviewers, checks and comments say of them.
import {
  checkSuiteActions,
  commentActions,
  ownPullRequestActions,
  pullRequestActions,
  reviewActions,
  reviewThreadActions,
} from '../log/codehost-details.ts';
import { topicsIn } from '../log/topic-family.ts';
import { putPullRequest, putWorker, workersNear, workersOfPullRequest } from './board-entities.ts';
import { commitKey, linked, pullRequestKey } from './board-links.ts';
import type { PullRequest } from './board-types.ts';
import { withFact } from './deploy-turn.ts';
import { reactToJudgement, reactToPush } from './fold-reactions.ts';
import { withKnownDeployments } from './known-facts.ts';
import { mergeReadiness } from './merge-readiness.ts';
import {
  type JudgementLine,
  type OwnLine,
  pullRequestNumbers,
  reducePullRequest,
  withKnownPreviews,
} from './reduce-pull-request.ts';
import { ask, type Fold, on, type Turn } from './turn.ts';
import { isOver, withOwnAttention } from './worker-attention.ts';

function foldPullRequest(turn: Turn<OwnLine['event']>): void {
  const { board, line } = turn;
  const { repo, pr } = line.scope;
  if (repo === undefined || pr === undefined) return;
  const known = board.pullRequests.get(pullRequestKey(repo, pr));
  const told = reducePullRequest(known, line);
  if (told === undefined) return;
  const next = told.headSha === known?.headSha ? told : withKnownPreviews(board, told);
  const isLinkedAnew = next.branch !== known?.branch || next.headRepo !== known.headRepo;
  // Those that it belonged to before may have to learn that it does no more.
  const before = known === undefined || !isLinkedAnew ? [] : workersNear(board, known);
  putPullRequest(board, next);
  const near = workersNear(board, next);
  if (near.length === 0 && before.length === 0) return;
  if (known !== undefined && next.headSha !== known.headSha) reactToPush(turn, next);
  if (next.merge !== null && (isLinkedAnew || next.merge !== known?.merge)) tellMerge(turn, next, next.merge);
  if (next.state === known?.state && !isLinkedAnew) return;
  for (const key of new Set([...before, ...near])) {
    const worker = board.workers.get(key);
    const looked = worker && withOwnAttention(turn, worker);
    if (looked !== undefined && looked !== worker) putWorker(board, looked);
  }
}

function tellMerge(turn: Turn, pullRequest: PullRequest, merge: NonNullable<PullRequest['merge']>): void {
  for (const worker of workersOfPullRequest(turn.board, pullRequest)) {
    const merged = withFact(turn, worker, { kind: 'merged', ...merge });
    if (merged !== worker) putWorker(turn.board, withOwnAttention(turn, withKnownDeployments(turn, merged)));
  }
}

function foldJudgement(turn: Turn<JudgementLine['event']>): void {
  const { board, line } = turn;
  for (const key of keysOf(turn)) {
    const known = board.pullRequests.get(key);
    const next = reducePullRequest(known, line);
    if (next === undefined) continue;
    const asked = withQuestion(turn, next);
    if (asked === known) continue;
    putPullRequest(board, asked);
    reactToJudgement(turn, asked);
  }
}

function keysOf({ board, line }: Turn<JudgementLine['event']>): readonly string[] {
  const { repo, sha } = line.scope;
  if (repo === undefined) return [];
  const numbers = pullRequestNumbers(line);
  if (numbers.length > 0) return numbers.map((number) => pullRequestKey(repo, number));
  return sha === undefined ? [] : linked(board.links.pullRequestsByHead, commitKey(repo, sha));
}

/** Where somebody's work waits for it and nobody has said whether it can be merged, the code host is asked. */
function withQuestion(turn: Turn, pullRequest: PullRequest): PullRequest {
  const { board, line } = turn;
  if (pullRequest.state !== 'open' || pullRequest.askedSeq !== null || line.via === 'poll')
    return pullRequest;
  if (mergeReadiness(pullRequest).ready !== null) return pullRequest;
  if (workersOfPullRequest(board, pullRequest).every(isOver)) return pullRequest;
  const { repo, number } = pullRequest;
  ask(turn, pullRequestKey(repo, number), { kind: 'refresh-pull-request', repo, pr: number });
  return { ...pullRequest, askedSeq: line.seq };
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
