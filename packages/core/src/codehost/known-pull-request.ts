// What the log says of a pull request, as far as a reconciliation compares it.
import type { EventLine } from '../log/event-line.ts';

export type KnownPullRequest = {
  state: 'open' | 'closed' | 'merged';
  draft?: boolean | undefined;
  headSha?: string | undefined;
  /** What the reviews come to, and the checks of the head commit; undefined when the log does not tell. */
  verdict?: 'approved' | 'changes_requested' | undefined;
  checks?: 'success' | 'failure' | undefined;
  /** The line that it is known from, so that the same change can be told again when it happens again. */
  asOf?: string | undefined;
};

/**
 * The same after one more line; lines of other pull requests and other topics change nothing.
 * `lines.reduce(pullRequestAfter, undefined)`
 */
export function pullRequestAfter(
  known: KnownPullRequest | undefined,
  line: Pick<EventLine, 'event' | 'scope' | 'detail' | 'seq' | 'via'>,
): KnownPullRequest | undefined {
  const asOf = String(line.seq);
  if (line.event.startsWith('codehost.pr.'))
    return { ...withoutStale(known, line), ...stateIn(line, known), asOf };
  if (known === undefined) return undefined;
  if (line.event === 'codehost.pr_review.submitted') {
    const { state } = line.detail;
    return state === 'approved' || state === 'changes_requested' ? { ...known, verdict: state, asOf } : known;
  }
  if (line.event === 'codehost.pr_review.dismissed') return { ...known, verdict: undefined, asOf };
  if (line.event !== 'codehost.check_suite.completed' || line.scope.sha !== known.headSha) return known;
  // One suite of several tells nothing of the whole; a poll tells the whole.
  const { conclusion } = line.detail;
  const whole = line.via === 'poll' && (conclusion === 'success' || conclusion === 'failure');
  return { ...known, checks: whole ? conclusion : undefined, asOf };
}

type PullRequestLine = Pick<EventLine, 'event' | 'scope' | 'detail'>;

function stateIn(
  { event, scope, detail }: PullRequestLine,
  known: KnownPullRequest | undefined,
): KnownPullRequest {
  const isMerged = event === 'codehost.pr.merged' || detail['merged'] === true || known?.state === 'merged';
  return {
    state: isMerged ? 'merged' : detail['state'] === 'closed' ? 'closed' : 'open',
    draft: typeof detail['draft'] === 'boolean' ? detail['draft'] : known?.draft,
    headSha: scope.sha ?? known?.headSha,
  };
}

/** Checks are of a commit: a new head has none yet. */
function withoutStale(
  known: KnownPullRequest | undefined,
  { scope }: PullRequestLine,
): KnownPullRequest | undefined {
  return known !== undefined && scope.sha !== undefined && scope.sha !== known.headSha
    ? { ...known, checks: undefined }
    : known;
}
