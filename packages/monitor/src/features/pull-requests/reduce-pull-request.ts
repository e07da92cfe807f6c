// A pull request after one more of its events. An event older than the known state only fills gaps; a merge is final.

import type { LineOf } from '../../kernel/board/fold-context.ts';
import { isOlder, later, short, timeOf, upstreamTime, withEntry } from '../../kernel/board/line-values.ts';
import type { Topic } from '../../kernel/log/topics.ts';
import { isIn } from '../../kernel/log/typed-line.ts';
import type { PreviewSource, PullRequest, PullRequestCheck, ReviewVerdict } from './pull-request.ts';
import { ALL_CHECKS, isPassing } from './pull-request-verdict.ts';

type Family<Name extends string> = LineOf<Extract<Topic, `${Name}.${string}`>>;
export type OwnLine = Family<'codehost.pr'>;
type ReviewLine = Family<'codehost.pr_review'>;
type ThreadLine = Family<'codehost.pr_review_thread'>;
type CommentLine = Family<'codehost.pr_review_comment' | 'codehost.issue_comment'>;
type CheckLine = Family<'codehost.check_suite'>;
/** Reviews, comments and checks of a pull request. */
export type JudgementLine = ReviewLine | ThreadLine | CommentLine | CheckLine;

// Automated checks of a pull request's head commit. Suites of other commits are ignored.

const MOST_CHECKS = 100;
const MOST_PULL_REQUESTS = 100;

function withCheckSuite(known: PullRequest, line: CheckLine): PullRequest {
  if (line.scope.sha === undefined || line.scope.sha !== known.headSha) return known;
  return line.via === 'poll' ? withAllChecks(known, line) : withOneSuite(known, line);
}

function withOneSuite(known: PullRequest, line: CheckLine): PullRequest {
  const { detail, event, seq } = line;
  const isCompleted = event === 'codehost.check_suite.completed';
  const { suiteId = null } = detail;
  const check: PullRequestCheck = {
    name: short(detail.app) ?? (suiteId === null ? 'a check' : `suite ${suiteId}`),
    suiteId,
    conclusion: isCompleted ? detail.conclusion || 'unknown' : null,
    at: upstreamTime(line),
    seq,
  };
  const isSame = (other: PullRequestCheck): boolean =>
    other.suiteId === suiteId && other.name === check.name && other.name !== ALL_CHECKS;
  const before = known.checks.find(isSame);
  if (before !== undefined && isOlderCheck(before, check)) return known;
  // After a single suite, the combined result of the last poll is outdated.
  const others = isCompleted ? known.checks.filter(({ name }) => name !== ALL_CHECKS) : known.checks;
  return withJudgement(
    {
      ...known,
      checks: withEntry(others, isSame, check, MOST_CHECKS),
      asOf: isCompleted ? seq : known.asOf,
    },
    check.conclusion !== null && isPassing(check.conclusion) ? 'favourable' : 'unfavourable',
  );
}

/** Already known, or older. At equal times a completed suite wins over a running one. */
function isOlderCheck(before: PullRequestCheck, check: PullRequestCheck): boolean {
  if (isOlder(check.at, before.at)) return true;
  return (
    check.at !== null &&
    check.at === before.at &&
    (check.conclusion ?? before.conclusion) === before.conclusion
  );
}

/** A poll reports the combined result. */
function withAllChecks(known: PullRequest, line: CheckLine): PullRequest {
  if (line.event !== 'codehost.check_suite.completed') return known;
  const { conclusion } = line.detail;
  const others = known.checks.filter(({ name }) => name !== ALL_CHECKS);
  const isWhole = conclusion === 'success' || conclusion === 'failure';
  const whole: PullRequestCheck[] = isWhole
    ? [{ name: ALL_CHECKS, suiteId: null, conclusion, at: upstreamTime(line), seq: line.seq }]
    : [];
  return withJudgement(
    { ...known, checks: [...others.slice(-MOST_CHECKS + 1), ...whole], asOf: line.seq },
    conclusion === 'success' ? 'favourable' : 'unfavourable',
  );
}

// Reviews: the latest of each reviewer, and the open threads.

const MOST_REVIEWERS = 100;
const MOST_THREADS = 200;

function withReview(known: PullRequest, line: ReviewLine): PullRequest {
  const isDismissed = line.event === 'codehost.pr_review.dismissed';
  const state = isDismissed ? 'dismissed' : line.detail.state?.toLowerCase();
  const verdict = verdictIn(state);
  if (line.event === 'codehost.pr_review.edited' || (verdict === undefined && !isDismissed)) return known;
  const reviewer = short(line.detail.reviewer);
  // A poll reports the combined decision, without a reviewer.
  if (reviewer === undefined) {
    const decided = { ...known, reviewDecision: verdict ?? null, verdict: verdict ?? null, asOf: line.seq };
    return withJudgement(decided, judgementIn(verdict));
  }
  const review = { reviewer, state: verdict ?? 'dismissed', at: upstreamTime(line), seq: line.seq };
  const before = known.reviews.find((other) => other.reviewer === reviewer);
  if (before !== undefined && isOlderReview(before, review)) return known;
  const isLatest = known.reviews.every((other) => !isOlder(review.at, other.at));
  const reviews = withEntry(known.reviews, (other) => other.reviewer === reviewer, review, MOST_REVIEWERS);
  const reviewed: PullRequest = {
    ...known,
    reviews,
    reviewDecision: null,
    verdict: isLatest ? (verdict ?? null) : known.verdict,
    asOf: line.seq,
  };
  return withJudgement(reviewed, judgementIn(verdict));
}

type Review = PullRequest['reviews'][number];

/** Already known, or older. At equal times a dismissal comes after the review. */
function isOlderReview(before: Review, review: Review): boolean {
  if (isOlder(review.at, before.at)) return true;
  if (review.at === null || review.at !== before.at) return false;
  return before.state === 'dismissed' || before.state === review.state;
}

function verdictIn(state: string | undefined): ReviewVerdict | undefined {
  return state === 'approved' || state === 'changes_requested' ? state : undefined;
}

function judgementIn(verdict: ReviewVerdict | undefined): 'favourable' | 'unfavourable' | 'either' {
  if (verdict === undefined) return 'either';
  return verdict === 'approved' ? 'favourable' : 'unfavourable';
}

function withThread(known: PullRequest, line: ThreadLine): PullRequest {
  const id = short(line.detail.threadId);
  if (id === undefined) return known;
  const resolved = line.event === 'codehost.pr_review_thread.resolved';
  const before = known.threads.find((thread) => thread.id === id);
  const at = upstreamTime(line);
  const isSame = before?.resolved === resolved;
  if (before !== undefined && (isOlder(at, before.at) || (isSame && !isOlder(before.at, at)))) return known;
  const threads = withEntry(known.threads, (thread) => thread.id === id, { id, resolved, at }, MOST_THREADS);
  if (isSame) return { ...known, threads };
  const unresolvedThreads = threads.filter((thread) => !thread.resolved).map((thread) => thread.id);
  return withJudgement({ ...known, threads, unresolvedThreads }, resolved ? 'favourable' : 'unfavourable');
}

// A review, a check or a thread may change whether a pull request can be merged. If it makes the code host's last merge
// state stale, that state is dropped: unknown is better than wrong.

const staleAfter = {
  favourable: new Set(['blocked', 'unstable']),
  unfavourable: new Set(['clean', 'unstable', 'has_hooks']),
  /** A dismissed review: it is not known which of the two it was. */
  either: new Set(['blocked', 'clean', 'unstable', 'has_hooks']),
};

function withJudgement(pullRequest: PullRequest, judgement: keyof typeof staleAfter): PullRequest {
  const { mergeableState } = pullRequest;
  const isStale = mergeableState !== null && staleAfter[judgement].has(mergeableState);
  return isStale ? { ...pullRequest, mergeableState: null } : pullRequest;
}

// Links in a comment that lead to a preview: "preview" is in the link text, right before it, or in the URL. Links to the
// code host itself are never previews.

const MOST_TEXT = 20_000;
const MOST_LINKS = 10;
const LONGEST_LINK = 500;
const address = /https?:\/\/[^\s<>()[\]"'`|\\]{1,500}/g;
const mentionsPreview = /preview/i;
const label = /\[([^[\]\n]{0,200})\]\(\s*$/;

/** `previewLinksIn('[Visit Preview](https://web-42.example.app)')` */
export function previewLinksIn(text: string, pullRequestUrl?: string): string[] {
  if (!mentionsPreview.test(text)) return [];
  const codehost = hostOf(pullRequestUrl ?? '');
  const links = new Set<string>();
  for (const line of text.slice(0, MOST_TEXT).split('\n')) {
    let from = 0;
    for (const { 0: found, index } of line.matchAll(address)) {
      const link = found.replace(/[.,;:!?*_]+$/, '').slice(0, LONGEST_LINK);
      const before = line.slice(from, index);
      from = index + found.length;
      const linkText = label.exec(before)?.[1] ?? before;
      const host = hostOf(link);
      if (
        host === undefined ||
        host === codehost ||
        !(mentionsPreview.test(linkText) || mentionsPreview.test(link))
      )
        continue;
      links.add(link);
      if (links.size === MOST_LINKS) return [...links];
    }
  }
  return [...links];
}

function hostOf(link: string): string | undefined {
  return /^https?:\/\/([^/?#]+)/.exec(link)?.[1]?.toLowerCase();
}

// Preview links of a pull request: from its comments, and from environments other than production.

const MOST_SOURCES = 30;
const MOST_PREVIEWS = 20;

function withComment(known: PullRequest, line: CommentLine): PullRequest {
  const { detail, event } = line;
  const { commentId: id, body = '' } = detail;
  if (id === undefined) return known;
  const kind = event.startsWith('codehost.issue_comment.') ? 'comment' : 'review-comment';
  const gone = event.endsWith('.deleted');
  const links = gone ? [] : previewLinksIn(body, known.url ?? undefined);
  return withPreviews(known, { source: `${kind}:${id}`, links, at: upstreamTime(line), gone });
}

/** A deleted comment does not come back, and an older text does not replace a newer one. */
export function withPreviews(known: PullRequest, found: PreviewSource): PullRequest {
  const isSame = ({ source }: PreviewSource): boolean => source === found.source;
  const before = known.previewSources.find(isSame);
  if (before === undefined && found.links.length === 0 && !found.gone) return known;
  if (before !== undefined && (before.gone || isOlder(found.at, before.at) || isEqual(before, found)))
    return known;
  const previewSources = withEntry(known.previewSources, isSame, found, MOST_SOURCES);
  const previews = [...new Set(previewSources.flatMap(({ links }) => links))].slice(-MOST_PREVIEWS);
  return { ...known, previewSources, previews };
}

function isEqual(before: PreviewSource, found: PreviewSource): boolean {
  return (
    before.gone === found.gone && before.at === found.at && before.links.join(' ') === found.links.join(' ')
  );
}

/** The line belongs to this pull request: by its scope, or by its list of pull requests. */
export function reducePullRequest(
  known: PullRequest | undefined,
  line: OwnLine | JudgementLine,
): PullRequest | undefined {
  if (isIn(line, 'codehost.pr')) return afterOwnLine(known, line);
  if (known === undefined) return undefined;
  const next = afterJudgement(known, line);
  if (next === known) return known;
  const askedSeq = line.via === 'poll' ? null : next.askedSeq;
  const judgedAt = later(known.judgedAt, upstreamTime(line));
  return { ...next, askedSeq, judgedAt, via: line.via, lastSeq: line.seq, lastAt: line.ts };
}

function afterJudgement(known: PullRequest, line: JudgementLine): PullRequest {
  if (isIn(line, 'codehost.pr_review')) return withReview(known, line);
  if (isIn(line, 'codehost.pr_review_thread')) return withThread(known, line);
  if (isIn(line, 'codehost.check_suite')) return withCheckSuite(known, line);
  return withComment(known, line);
}

function afterOwnLine(known: PullRequest | undefined, line: OwnLine): PullRequest | undefined {
  const { repo, pr } = line.scope;
  if (repo === undefined || pr === undefined) return undefined;
  const reportedAt = upstreamTime(line);
  const before = known ?? unknownPullRequest(repo, pr, line);
  const named =
    known === undefined || !isOlder(reportedAt, known.reportedAt)
      ? newest(before, line)
      : older(before, line);
  const merge = mergeAfter(named, line);
  return {
    ...named,
    merge,
    state: merge === null ? named.state : 'merged',
    reportedAt: later(before.reportedAt, reportedAt),
    asOf: line.seq,
    via: line.via,
    lastSeq: line.seq,
    lastAt: line.ts,
  };
}

/** The line is the newest known state. */
function newest(before: PullRequest, line: OwnLine): PullRequest {
  const { detail, scope } = line;
  const headSha = scope.sha ?? before.headSha;
  const isNewHead = headSha !== before.headSha;
  const state = stateIn(line) ?? before.state;
  return {
    ...before,
    title: short(detail.title) ?? before.title,
    url: short(detail.url) ?? before.url,
    author: short(detail.author) ?? before.author,
    branch: scope.branch ?? before.branch,
    headRepo: short(detail.headRepo) ?? before.headRepo,
    base: short(detail.base) ?? before.base,
    ticket: scope.ticket ?? before.ticket,
    openedAt: detail.createdAt ?? before.openedAt,
    state,
    draft: detail.draft ?? before.draft,
    headSha,
    ...mergeStateAfter(before, line, isNewHead),
    checks: isNewHead ? [] : before.checks,
    closedAt: state === 'open' ? null : (detail.closedAt ?? before.closedAt ?? timeOf(line)),
    askedSeq: null,
  };
}

/** The code host's merge state for a commit counts until later reviews or checks are reported. */
function mergeStateAfter(
  before: PullRequest,
  line: OwnLine,
  isNewHead: boolean,
): Pick<PullRequest, 'mergeable' | 'mergeableState'> {
  const { mergeableState, mergeable = null } = line.detail;
  if (mergeableState && !isOlder(upstreamTime(line), before.judgedAt)) return { mergeable, mergeableState };
  if (isNewHead) return { mergeable: null, mergeableState: null };
  return { mergeable: before.mergeable, mergeableState: before.mergeableState };
}

/** A late line fills gaps; everything else stays. */
function older(before: PullRequest, { detail, scope }: OwnLine): PullRequest {
  return {
    ...before,
    title: before.title ?? short(detail.title) ?? null,
    url: before.url ?? short(detail.url) ?? null,
    author: before.author ?? short(detail.author) ?? null,
    branch: before.branch ?? scope.branch ?? null,
    headRepo: before.headRepo ?? short(detail.headRepo) ?? null,
    base: before.base ?? short(detail.base) ?? null,
    ticket: before.ticket ?? scope.ticket ?? null,
    openedAt: before.openedAt ?? detail.createdAt ?? null,
    draft: before.draft ?? detail.draft ?? null,
    headSha: before.headSha ?? scope.sha ?? null,
  };
}

function stateIn({ event, detail }: OwnLine): 'open' | 'closed' | undefined {
  if (event === 'codehost.pr.closed' || detail.state === 'closed') return 'closed';
  return event === 'codehost.pr.reopened' || event === 'codehost.pr.opened' || detail.state === 'open'
    ? 'open'
    : undefined;
}

/** The first line that reports the merge counts; a later one only adds the commit. */
function mergeAfter(known: PullRequest, line: OwnLine): PullRequest['merge'] {
  const { event, detail, scope, seq, via } = line;
  if (event !== 'codehost.pr.merged' && detail.merged !== true) return known.merge;
  const sha = scope.mergeSha ?? null;
  if (known.merge !== null)
    return known.merge.sha === null && sha !== null ? { ...known.merge, sha } : known.merge;
  return { sha, at: detail.mergedAt ?? timeOf(line), seq, via };
}

function unknownPullRequest(repo: string, number: number, line: OwnLine): PullRequest {
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
    reportedAt: null,
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

/** The numbers of the pull requests that a line is about: checks may belong to several. */
export function pullRequestNumbers(line: JudgementLine): readonly number[] {
  if (line.scope.pr !== undefined) return [line.scope.pr];
  return isIn(line, 'codehost.check_suite') ? (line.detail.prs?.slice(0, MOST_PULL_REQUESTS) ?? []) : [];
}
