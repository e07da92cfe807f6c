// `pull_request`: the pull request as it stands after the action. The scope is shared by its reviews.
import { type PullRequestDetail, pullRequestActions } from '../log/codehost-details.ts';
import type { EventScope } from '../log/event-line.ts';
import type { CodehostFact } from './codehost-fact.ts';
import { knownDetail } from './only-known.ts';
import {
  type Fields,
  flagAt,
  hasObject,
  integerAt,
  loginAt,
  namesAt,
  objectAt,
  textAt,
  timeAt,
} from './payload-fields.ts';

const actions: ReadonlySet<string> = new Set([...pullRequestActions, 'refreshed']);

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
    headRepo: textAt(objectAt(objectAt(pullRequest, 'head'), 'repo'), 'full_name'),
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
    topic: mergedNow ? 'codehost.pr.merged' : actions.has(action) ? `codehost.pr.${action}` : '',
    scope: pullRequestScope(payload),
    occurredAt: timeOfAction(pullRequest, action, mergedNow),
    title: detail.title,
    detail: knownDetail(detail),
  };
}

/** The merge commit counts only after the merge: before it, the code host shows its own trial merge there. */
export function pullRequestScope(payload: Fields): EventScope {
  const pullRequest = objectAt(payload, 'pull_request');
  const head = objectAt(pullRequest, 'head');
  return {
    pr: integerAt(pullRequest, 'number') ?? integerAt(payload, 'number'),
    branch: textAt(head, 'ref'),
    sha: textAt(head, 'sha'),
    mergeSha: wasMerged(pullRequest) ? textAt(pullRequest, 'merge_commit_sha') : undefined,
  };
}

/** Payloads of reviews have no `merged`, only the time of the merge. */
function wasMerged(pullRequest: Fields): boolean {
  return flagAt(pullRequest, 'merged') ?? timeAt(pullRequest, 'merged_at') !== undefined;
}

function timeOfAction(pullRequest: Fields, action: string, mergedNow: boolean): string | undefined {
  // What a poll finds of the mergeability is of now; the pull request itself may not have changed for days.
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
