// What to do about a pull request, from its events, oldest first. A pure function.
//
//   classify(events) → { action, why, seq, headSha }
//
// Actions: done, fix-checks, address-review, rebase, wait, needs-a-person. `seq` is the event that decided.

/** How many fixes of the same kind are tried before a person is asked. */
const MOST_FIXES = 3;
const FAILED = ['failure', 'timed_out', 'startup_failure'];

export function classify(events) {
  const state = {
    headSha: null,
    end: null,
    draft: false,
    merge: null,
    suites: new Map(),
    statuses: new Map(),
    reviews: new Map(),
    failedCommits: new Set(),
    askedReviews: new Set(),
    seq: 0,
  };
  for (const event of events) take(state, event);
  return { ...decide(state), headSha: state.headSha };
}

function take(state, { seq, event, scope, detail }) {
  state.seq = seq;
  if (event.startsWith('codehost.pr.')) takePullRequest(state, seq, event, scope, detail);
  if (event.startsWith('codehost.pr_review.')) takeReview(state, seq, event, detail);
  // A check of an older commit does not apply to the newest.
  const isOfHead = state.headSha === null || scope.sha === state.headSha;
  if (event.startsWith('codehost.check_suite.') && isOfHead) {
    const { conclusion = null } = detail;
    state.suites.set(detail.suiteId ?? detail.app ?? 'suite', { conclusion, seq });
    if (FAILED.includes(conclusion)) state.failedCommits.add(scope.sha);
  }
  if (event.startsWith('codehost.status.') && isOfHead) {
    state.statuses.set(detail.context ?? 'status', { state: detail.state, seq });
    if (['failure', 'error'].includes(detail.state)) state.failedCommits.add(scope.sha);
  }
}

function takePullRequest(state, seq, event, scope, detail) {
  if (event === 'codehost.pr.merged') state.end = { action: 'done', why: 'it is merged', seq };
  if (event === 'codehost.pr.closed')
    state.end = { action: 'needs-a-person', why: 'it was closed without a merge', seq };
  if (event === 'codehost.pr.reopened') state.end = null;
  if (detail.draft !== undefined) state.draft = detail.draft;
  if (detail.mergeableState !== undefined) state.merge = { state: detail.mergeableState, seq };
  if (scope.sha === undefined || scope.sha === state.headSha) return;
  // A new commit makes earlier checks and reviews obsolete.
  state.headSha = scope.sha;
  state.suites.clear();
  state.statuses.clear();
  state.reviews.clear();
  if (detail.mergeableState === undefined) state.merge = null;
}

function takeReview(state, seq, event, detail) {
  const { reviewer = 'a reviewer', reviewId = seq } = detail;
  if (event === 'codehost.pr_review.dismissed') state.reviews.delete(reviewer);
  else if (detail.state === 'changes_requested') {
    state.reviews.set(reviewer, { seq });
    state.askedReviews.add(reviewId);
  } else if (detail.state === 'approved') state.reviews.delete(reviewer);
}

function decide(state) {
  if (state.end !== null) return state.end;
  const waitingForPerson = [...state.suites.values()].find(
    ({ conclusion }) => conclusion === 'action_required',
  );
  if (waitingForPerson !== undefined)
    return { action: 'needs-a-person', why: 'a check waits for a person', seq: waitingForPerson.seq };
  return (
    checks(state) ??
    review(state) ??
    mergeability(state) ?? { action: 'wait', why: waitsFor(state), seq: state.seq }
  );
}

function checks({ suites, statuses, failedCommits }) {
  const failed =
    [...suites.values()].find(({ conclusion }) => FAILED.includes(conclusion)) ??
    [...statuses.values()].find(({ state }) => ['failure', 'error'].includes(state));
  if (failed === undefined) return undefined;
  return failedCommits.size > MOST_FIXES
    ? { action: 'needs-a-person', why: `checks failed on ${failedCommits.size} commits`, seq: failed.seq }
    : { action: 'fix-checks', why: 'checks failed on the newest commit', seq: failed.seq };
}

function review({ reviews, askedReviews }) {
  const [first] = reviews.entries();
  if (first === undefined) return undefined;
  const [reviewer, { seq }] = first;
  return askedReviews.size > MOST_FIXES
    ? { action: 'needs-a-person', why: `changes were requested ${askedReviews.size} times`, seq }
    : { action: 'address-review', why: `${reviewer} requested changes`, seq };
}

function mergeability({ merge }) {
  if (merge?.state === 'dirty')
    return { action: 'rebase', why: 'it conflicts with its base', seq: merge.seq };
  if (merge?.state === 'behind') return { action: 'rebase', why: 'it is behind its base', seq: merge.seq };
  return undefined;
}

function waitsFor({ draft, suites }) {
  if (draft) return 'it is a draft';
  const running = [...suites.values()].some(({ conclusion }) => conclusion === null);
  return running ? 'checks are running' : 'nothing to do; a review or the merge is next';
}
