// The part of an event that depends on the type of code-host delivery; `map-codehost.ts` adds the shared part.
import {
  asFields,
  type Fields,
  flagAt,
  hasObject,
  integerAt,
  knownDetail,
  listAt,
  loginAt,
  namesAt,
  objectAt,
  textAt,
  timeAt,
} from '@svc/contract/payload-fields';
import { DELETED_FORK } from '@svc/contract/repo-name';
import type { EventContent, EventScope } from '../../kernel/log/event-line.ts';
import {
  type CheckSuiteDetail,
  type CommitStatusDetail,
  checkSuiteActions,
  commentActions,
  commitStatusStates,
  type DeploymentDetail,
  type DeploymentStatusDetail,
  deploymentStates,
  type IssueCommentDetail,
  type PullRequestDetail,
  type PushDetail,
  pullRequestActions,
  type ReviewCommentDetail,
  type ReviewDetail,
  type ReviewThreadDetail,
  reviewActions,
  reviewThreadActions,
} from './topics.ts';

export type CodehostFact = {
  /** Undefined for an unknown action: the code host has published a new one. */
  content: EventContent | undefined;
  scope: EventScope;
  occurredAt: string | undefined;
  /** May name a ticket, like the branch. */
  title?: string | undefined;
};

export type ReadFact = (payload: Fields, action: string) => CodehostFact;

function contentOf<Family extends string, Action extends string, Detail extends object>(
  family: Family,
  actions: readonly Action[],
  action: string | undefined,
  detail: Detail,
): { event: `${Family}.${Action}`; detail: Detail } | undefined {
  const known = actions.find((one) => one === action);
  return known === undefined ? undefined : { event: `${family}.${known}`, detail: knownDetail(detail) };
}

// `pull_request`: the pull request after the action. Reviews have the same scope.

/** A poll reports its result as `refreshed`. A merge is not an action; it comes as `closed`. */
const actions = [...pullRequestActions, 'refreshed'] as const;

export function pullRequestFact(payload: Fields, action: string): CodehostFact {
  const pullRequest = objectAt(payload, 'pull_request');
  const merged = wasMerged(pullRequest);
  const detail: PullRequestDetail = {
    title: textAt(pullRequest, 'title'),
    url: textAt(pullRequest, 'html_url'),
    state: textAt(pullRequest, 'state'),
    draft: flagAt(pullRequest, 'draft'),
    merged,
    mergedAt: timeAt(pullRequest, 'merged_at'),
    mergedBy: loginAt(pullRequest, 'merged_by'),
    mergeable: flagAt(pullRequest, 'mergeable'),
    mergeableState: textAt(pullRequest, 'mergeable_state'),
    autoMerge: 'auto_merge' in pullRequest ? hasObject(pullRequest, 'auto_merge') : undefined,
    author: loginAt(pullRequest, 'user'),
    base: textAt(objectAt(pullRequest, 'base'), 'ref'),
    headRepo: headRepoOf(payload),
    labels: namesAt(pullRequest, 'labels', 'name'),
    requestedReviewers: namesAt(pullRequest, 'requested_reviewers', 'login'),
    createdAt: timeAt(pullRequest, 'created_at'),
    closedAt: timeAt(pullRequest, 'closed_at'),
    additions: integerAt(pullRequest, 'additions'),
    deletions: integerAt(pullRequest, 'deletions'),
    changedFiles: integerAt(pullRequest, 'changed_files'),
    label: textAt(objectAt(payload, 'label'), 'name'),
    assignee: loginAt(payload, 'assignee'),
    requestedReviewer:
      loginAt(payload, 'requested_reviewer') ?? textAt(objectAt(payload, 'requested_team'), 'slug'),
    before: textAt(payload, 'before'),
    after: textAt(payload, 'after'),
    changed: changedParts(payload),
  };
  const mergedNow = action === 'closed' && merged;
  return {
    content: mergedNow
      ? { event: 'codehost.pr.merged', detail: knownDetail(detail) }
      : contentOf('codehost.pr', actions, action, detail),
    scope: pullRequestScope(payload),
    occurredAt: timeOfAction(pullRequest, action, mergedNow),
    title: detail.title,
  };
}

/**
 * The repository of the head branch. The code host sends null for a fork that was deleted; only the label then names its
 * owner. A branch of a fork is never taken for a branch of this repository, so it gets a name that no repository has.
 */
function headRepoOf(payload: Fields): string | undefined {
  const head = objectAt(objectAt(payload, 'pull_request'), 'head');
  const name = textAt(objectAt(head, 'repo'), 'full_name');
  if (name !== undefined) return name;
  const [labelled] = textAt(head, 'label')?.split(':') ?? [];
  const owner = labelled ?? loginAt(head, 'user');
  const [here] = textAt(objectAt(payload, 'repository'), 'full_name')?.split('/') ?? [];
  const isElsewhere = owner !== undefined && owner.toLowerCase() !== here?.toLowerCase();
  return head['repo'] === null || isElsewhere ? `${owner ?? 'unknown'}${DELETED_FORK}` : undefined;
}

/** The merge commit counts only after the merge: before it, the field holds the code host's test merge. */
function pullRequestScope(payload: Fields): EventScope {
  const pullRequest = objectAt(payload, 'pull_request');
  const head = objectAt(pullRequest, 'head');
  return {
    pr: integerAt(pullRequest, 'number') ?? integerAt(payload, 'number'),
    branch: textAt(head, 'ref'),
    sha: commitAt(head, 'sha'),
    mergeSha: wasMerged(pullRequest) ? commitAt(pullRequest, 'merge_commit_sha') : undefined,
  };
}

/** Commit ids are compared as texts, so they are kept in lower case. */
function commitAt(fields: Fields, name: string): string | undefined {
  return textAt(fields, name)?.toLowerCase();
}

/** Payloads of reviews have no `merged`, only `merged_at`. */
function wasMerged(pullRequest: Fields): boolean {
  return flagAt(pullRequest, 'merged') ?? timeAt(pullRequest, 'merged_at') !== undefined;
}

function timeOfAction(pullRequest: Fields, action: string, mergedNow: boolean): string | undefined {
  // The mergeability that a poll finds is current, but the pull request may not have changed for days.
  if (action === 'refreshed') return undefined;
  const own = mergedNow
    ? 'merged_at'
    : action === 'closed'
      ? 'closed_at'
      : action === 'opened'
        ? 'created_at'
        : 'updated_at';
  return timeAt(pullRequest, own) ?? timeAt(pullRequest, 'updated_at');
}

function changedParts(payload: Fields): string[] | undefined {
  const changes = objectAt(payload, 'changes');
  const parts = ['title', 'body', 'base'].filter((part) => hasObject(changes, part));
  return parts.length > 0 ? parts : undefined;
}

// `pull_request_review`, `pull_request_review_thread` and `pull_request_review_comment`.

export function reviewFact(payload: Fields, action: string): CodehostFact {
  const review = objectAt(payload, 'review');
  const pullRequest = objectAt(payload, 'pull_request');
  const detail: ReviewDetail = {
    reviewId: integerAt(review, 'id'),
    // Lower case in webhooks, upper case in the API of the same code host.
    state: textAt(review, 'state')?.toLowerCase(),
    reviewer: loginAt(review, 'user'),
    reviewedSha: textAt(review, 'commit_id'),
    body: textAt(review, 'body'),
    url: textAt(review, 'html_url'),
    title: textAt(pullRequest, 'title'),
    draft: flagAt(pullRequest, 'draft'),
  };
  return {
    content: contentOf('codehost.pr_review', reviewActions, action, detail),
    scope: pullRequestScope(payload),
    occurredAt:
      (action === 'submitted' ? timeAt(review, 'submitted_at') : undefined) ??
      timeAt(pullRequest, 'updated_at'),
    title: detail.title,
  };
}

export function reviewThreadFact(payload: Fields, action: string): CodehostFact {
  const thread = objectAt(payload, 'thread');
  const pullRequest = objectAt(payload, 'pull_request');
  const comments = listAt(thread, 'comments');
  const first = asFields(comments[0]) ?? {};
  const detail: ReviewThreadDetail = {
    threadId: textAt(thread, 'node_id'),
    resolved: action === 'resolved',
    comments: comments.length,
    path: textAt(first, 'path'),
    line: integerAt(first, 'line'),
    url: textAt(first, 'html_url'),
    title: textAt(pullRequest, 'title'),
  };
  return {
    content: contentOf('codehost.pr_review_thread', reviewThreadActions, action, detail),
    scope: pullRequestScope(payload),
    occurredAt: timeAt(payload, 'updated_at') ?? timeAt(pullRequest, 'updated_at'),
    title: detail.title,
  };
}

export function reviewCommentFact(payload: Fields, action: string): CodehostFact {
  const comment = objectAt(payload, 'comment');
  const detail: ReviewCommentDetail = {
    commentId: integerAt(comment, 'id'),
    reviewId: integerAt(comment, 'pull_request_review_id'),
    inReplyTo: integerAt(comment, 'in_reply_to_id'),
    author: loginAt(comment, 'user'),
    body: textAt(comment, 'body'),
    path: textAt(comment, 'path'),
    line: integerAt(comment, 'line'),
    url: textAt(comment, 'html_url'),
    title: textAt(objectAt(payload, 'pull_request'), 'title'),
  };
  return {
    content: contentOf('codehost.pr_review_comment', commentActions, action, detail),
    scope: pullRequestScope(payload),
    occurredAt: timeAt(comment, action === 'created' ? 'created_at' : 'updated_at'),
    title: detail.title,
  };
}

// `check_suite` and `status`: results of automated checks of a commit.

const MOST_PULL_REQUESTS = 100;

export function checkSuiteFact(payload: Fields, action: string): CodehostFact {
  const suite = objectAt(payload, 'check_suite');
  const prs = pullRequestsOf(payload, suite);
  const app = objectAt(suite, 'app');
  const detail: CheckSuiteDetail = {
    suiteId: integerAt(suite, 'id'),
    status: textAt(suite, 'status'),
    conclusion: textAt(suite, 'conclusion'),
    prs,
    app: textAt(app, 'slug') ?? textAt(app, 'name'),
    checkRuns: integerAt(suite, 'latest_check_runs_count'),
    before: textAt(suite, 'before'),
    after: textAt(suite, 'after'),
  };
  return {
    content: contentOf('codehost.check_suite', checkSuiteActions, action, detail),
    scope: {
      pr: prs.length === 1 ? prs[0] : undefined,
      branch: textAt(suite, 'head_branch'),
      sha: commitAt(suite, 'head_sha'),
    },
    occurredAt: timeAt(suite, 'updated_at'),
  };
}

/** Without pull requests of other repositories that share the commit, which the code host lists too. */
function pullRequestsOf(payload: Fields, suite: Fields): number[] {
  const ours = integerAt(objectAt(payload, 'repository'), 'id');
  const numbers: number[] = [];
  for (const item of listAt(suite, 'pull_requests').slice(0, MOST_PULL_REQUESTS)) {
    const pullRequest = asFields(item) ?? {};
    const number = integerAt(pullRequest, 'number');
    const target = integerAt(objectAt(objectAt(pullRequest, 'base'), 'repo'), 'id') ?? ours;
    if (number !== undefined && target === ours) numbers.push(number);
  }
  return numbers;
}

export function commitStatusFact(payload: Fields): CodehostFact {
  const branches = namesAt(payload, 'branches', 'name');
  const detail: CommitStatusDetail = {
    statusId: integerAt(payload, 'id'),
    state: textAt(payload, 'state'),
    context: textAt(payload, 'context'),
    description: textAt(payload, 'description'),
    url: textAt(payload, 'target_url'),
    branches,
  };
  return {
    content: contentOf('codehost.status', commitStatusStates, detail.state, detail),
    scope: { branch: branches?.length === 1 ? branches[0] : undefined, sha: commitAt(payload, 'sha') },
    occurredAt: timeAt(payload, 'updated_at') ?? timeAt(payload, 'created_at'),
  };
}

// `deployment` and `deployment_status`: whether a merged change reached an environment.

export function deploymentFact(payload: Fields, action: string): CodehostFact {
  const deployment = objectAt(payload, 'deployment');
  const detail: DeploymentDetail = {
    task: textAt(deployment, 'task'),
    description: textAt(deployment, 'description'),
    creator: loginAt(deployment, 'creator'),
    originalEnvironment: textAt(deployment, 'original_environment'),
    productionEnvironment: flagAt(deployment, 'production_environment'),
    transientEnvironment: flagAt(deployment, 'transient_environment'),
    url: textAt(objectAt(payload, 'workflow_run'), 'html_url'),
  };
  return {
    content: contentOf('codehost.deployment', ['created'], action, detail),
    scope: deploymentScope(payload, textAt(deployment, 'environment')),
    occurredAt: timeAt(deployment, 'created_at'),
  };
}

export function deploymentStatusFact(payload: Fields): CodehostFact {
  const status = objectAt(payload, 'deployment_status');
  const deployment = objectAt(payload, 'deployment');
  const detail: DeploymentStatusDetail = {
    state: textAt(status, 'state'),
    statusId: integerAt(status, 'id'),
    description: textAt(status, 'description'),
    logUrl: textAt(status, 'log_url'),
    environmentUrl: textAt(status, 'environment_url'),
    targetUrl: textAt(status, 'target_url'),
    creator: loginAt(status, 'creator'),
    task: textAt(deployment, 'task'),
    deploymentCreatedAt: timeAt(deployment, 'created_at'),
  };
  return {
    content: contentOf('codehost.deployment_status', deploymentStates, detail.state, detail),
    scope: deploymentScope(payload, textAt(status, 'environment') ?? textAt(deployment, 'environment')),
    occurredAt: timeAt(status, 'created_at') ?? timeAt(status, 'updated_at'),
  };
}

/** `ref` is whatever the deployer set: a branch, a tag or a commit. Only the workflow run names the branch. */
function deploymentScope(payload: Fields, environment: string | undefined): EventScope {
  const deployment = objectAt(payload, 'deployment');
  return {
    branch: textAt(objectAt(payload, 'workflow_run'), 'head_branch'),
    sha: commitAt(deployment, 'sha'),
    ref: textAt(deployment, 'ref'),
    environment,
    deploymentId: integerAt(deployment, 'id'),
  };
}

// `push`: a branch or tag was created, moved or deleted.

const noCommit = /^0+$/;
const LAST_SECOND_OF_2199 = 7_258_118_399;

export function pushFact(payload: Fields): CodehostFact {
  const ref = textAt(payload, 'ref');
  const after = textAt(payload, 'after');
  const detail: PushDetail = {
    before: textAt(payload, 'before'),
    after,
    commits: listAt(payload, 'commits').length,
    forced: flagAt(payload, 'forced'),
    created: flagAt(payload, 'created'),
    deleted: flagAt(payload, 'deleted'),
    tag: nameBehind(ref, 'refs/tags/'),
    base: textAt(payload, 'base_ref'),
    url: textAt(payload, 'compare'),
    message: textAt(objectAt(payload, 'head_commit'), 'message'),
    pusher: textAt(objectAt(payload, 'pusher'), 'name'),
  };
  return {
    content: { event: 'codehost.push', detail: knownDetail(detail) },
    scope: {
      ref,
      branch: nameBehind(ref, 'refs/heads/'),
      sha: after === undefined || noCommit.test(after) ? undefined : after,
    },
    occurredAt: timeOfPush(objectAt(payload, 'repository')),
  };
}

function nameBehind(ref: string | undefined, prefix: string): string | undefined {
  return ref?.startsWith(prefix) ? ref.slice(prefix.length) || undefined : undefined;
}

/** Only this field is in seconds since 1970. The commit time may be years earlier. */
function timeOfPush(repository: Fields): string | undefined {
  const seconds = integerAt(repository, 'pushed_at');
  if (seconds === undefined || seconds <= 0 || seconds > LAST_SECOND_OF_2199) return undefined;
  return new Date(seconds * 1000).toISOString();
}

// `issue_comment`: a comment on an issue or in the conversation of a pull request, which may link previews.

export function issueCommentFact(payload: Fields, action: string): CodehostFact {
  const comment = objectAt(payload, 'comment');
  const issue = objectAt(payload, 'issue');
  const onPullRequest = hasObject(issue, 'pull_request');
  const detail: IssueCommentDetail = {
    commentId: integerAt(comment, 'id'),
    author: loginAt(comment, 'user'),
    body: textAt(comment, 'body'),
    url: textAt(comment, 'html_url'),
    title: textAt(issue, 'title'),
    issue: integerAt(issue, 'number'),
    onPullRequest,
  };
  return {
    content: contentOf('codehost.issue_comment', commentActions, action, detail),
    scope: { pr: onPullRequest ? detail.issue : undefined },
    occurredAt: timeAt(comment, action === 'created' ? 'created_at' : 'updated_at'),
    title: detail.title,
  };
}
