// A pull request after one more line of its own. What a line says of a moment before the one that is known
// fills gaps and takes nothing back; a merge is final.
import { flagAt, integerAt, textAt, timeAt } from '../receive/payload-fields.ts';
import type { FoldedLine } from './board-shape.ts';
import { isOlder, later, shortTextAt, timeOf, upstreamTime } from './line-fields.ts';
import type { PullRequest } from './pull-request.ts';
import { withCheckSuite } from './pull-request-checks.ts';
import { withComment } from './pull-request-previews.ts';
import { withReview, withThread } from './pull-request-reviews.ts';

/** The line is of this pull request: its scope, or its list of pull requests, names it. */
export function reducePullRequest(known: PullRequest | undefined, line: FoldedLine): PullRequest | undefined {
  const { event } = line;
  if (event.startsWith('codehost.pr.')) return afterOwnLine(known, line);
  if (known === undefined) return undefined;
  const next = afterJudgement(known, line);
  if (next === known) return known;
  const askedSeq = line.via === 'poll' ? null : next.askedSeq;
  const judgedAt = later(known.judgedAt, upstreamTime(line));
  return { ...next, askedSeq, judgedAt, via: line.via, lastSeq: line.seq, lastAt: line.ts };
}

function afterJudgement(known: PullRequest, line: FoldedLine): PullRequest {
  const { event } = line;
  if (event.startsWith('codehost.pr_review.')) return withReview(known, line);
  if (event.startsWith('codehost.pr_review_thread.')) return withThread(known, line);
  if (event.startsWith('codehost.check_suite.')) return withCheckSuite(known, line);
  if (event.startsWith('codehost.issue_comment.') || event.startsWith('codehost.pr_review_comment.'))
    return withComment(known, line);
  return known;
}

function afterOwnLine(known: PullRequest | undefined, line: FoldedLine): PullRequest | undefined {
  const { repo, pr } = line.scope;
  if (repo === undefined || pr === undefined) return undefined;
  const told = upstreamTime(line);
  const before = known ?? unknownPullRequest(repo, pr, line);
  const named =
    known === undefined || !isOlder(told, known.toldAt) ? newest(before, line) : older(before, line);
  const merge = mergeAfter(named, line);
  return {
    ...named,
    merge,
    state: merge === null ? named.state : 'merged',
    toldAt: later(before.toldAt, told),
    asOf: line.seq,
    via: line.via,
    lastSeq: line.seq,
    lastAt: line.ts,
  };
}

/** What the line says is the newest that is known. */
function newest(before: PullRequest, line: FoldedLine): PullRequest {
  const { detail, scope } = line;
  const headSha = scope.sha ?? before.headSha;
  const isNewHead = headSha !== before.headSha;
  const state = stateIn(line) ?? before.state;
  return {
    ...before,
    title: shortTextAt(detail, 'title') ?? before.title,
    url: shortTextAt(detail, 'url') ?? before.url,
    author: shortTextAt(detail, 'author') ?? before.author,
    branch: scope.branch ?? before.branch,
    headRepo: shortTextAt(detail, 'headRepo') ?? before.headRepo,
    base: shortTextAt(detail, 'base') ?? before.base,
    ticket: scope.ticket ?? before.ticket,
    openedAt: timeAt(detail, 'createdAt') ?? before.openedAt,
    state,
    draft: flagAt(detail, 'draft') ?? before.draft,
    headSha,
    ...mergeStateAfter(before, line, isNewHead),
    checks: isNewHead ? [] : before.checks,
    closedAt: state === 'open' ? null : (timeAt(detail, 'closedAt') ?? before.closedAt ?? timeOf(line)),
    askedSeq: null,
  };
}

/** The code host's word on a commit counts until reviews or checks of a later moment are told. */
function mergeStateAfter(
  before: PullRequest,
  line: FoldedLine,
  isNewHead: boolean,
): Pick<PullRequest, 'mergeable' | 'mergeableState'> {
  const mergeableState = textAt(line.detail, 'mergeableState');
  if (mergeableState !== undefined && !isOlder(upstreamTime(line), before.judgedAt))
    return { mergeable: flagAt(line.detail, 'mergeable') ?? null, mergeableState };
  if (isNewHead) return { mergeable: null, mergeableState: null };
  return { mergeable: before.mergeable, mergeableState: before.mergeableState };
}

/** Gaps are filled from a late line too; what moves is left as it is. */
function older(before: PullRequest, { detail, scope }: FoldedLine): PullRequest {
  return {
    ...before,
    title: before.title ?? shortTextAt(detail, 'title') ?? null,
    url: before.url ?? shortTextAt(detail, 'url') ?? null,
    author: before.author ?? shortTextAt(detail, 'author') ?? null,
    branch: before.branch ?? scope.branch ?? null,
    headRepo: before.headRepo ?? shortTextAt(detail, 'headRepo') ?? null,
    base: before.base ?? shortTextAt(detail, 'base') ?? null,
    ticket: before.ticket ?? scope.ticket ?? null,
    openedAt: before.openedAt ?? timeAt(detail, 'createdAt') ?? null,
    draft: before.draft ?? flagAt(detail, 'draft') ?? null,
    headSha: before.headSha ?? scope.sha ?? null,
  };
}

function stateIn({ event, detail }: FoldedLine): 'open' | 'closed' | undefined {
  if (event === 'codehost.pr.closed' || detail['state'] === 'closed') return 'closed';
  return event === 'codehost.pr.reopened' || event === 'codehost.pr.opened' || detail['state'] === 'open'
    ? 'open'
    : undefined;
}

/** The first line that tells of the merge counts; a later one only fills in its commit. */
function mergeAfter(known: PullRequest, line: FoldedLine): PullRequest['merge'] {
  const { event, detail, scope, seq, via } = line;
  if (event !== 'codehost.pr.merged' && detail['merged'] !== true) return known.merge;
  const sha = scope.mergeSha ?? null;
  if (known.merge !== null)
    return known.merge.sha === null && sha !== null ? { ...known.merge, sha } : known.merge;
  return { sha, at: timeAt(detail, 'mergedAt') ?? timeOf(line), seq, via };
}

function unknownPullRequest(repo: string, number: number, line: FoldedLine): PullRequest {
  return {
    repo,
    number,
    title: null,
    url: null,
    author: null,
    branch: null,
    headRepo: null,
    base: null,
    ticket: null,
    state: 'open',
    draft: null,
    mergeable: null,
    mergeableState: null,
    headSha: null,
    checks: [],
    reviews: [],
    reviewDecision: null,
    verdict: null,
    threads: [],
    unresolvedThreads: [],
    previewSources: [],
    previews: [],
    openedAt: null,
    merge: null,
    closedAt: null,
    toldAt: null,
    judgedAt: null,
    asOf: line.seq,
    askedSeq: null,
    firstSeq: line.seq,
    firstVia: line.via,
    via: line.via,
    lastSeq: line.seq,
    lastAt: line.ts,
  };
}

/** The pull requests that a line is about, by number: checks may be of several. */
export function pullRequestNumbers({ scope, detail }: FoldedLine): number[] {
  if (scope.pr !== undefined) return [scope.pr];
  const { prs } = detail;
  if (!Array.isArray(prs)) return [];
  const numbers: number[] = [];
  for (const item of prs.slice(0, 100)) {
    const number = integerAt({ item }, 'item');
    if (number !== undefined) numbers.push(number);
  }
  return numbers;
}
