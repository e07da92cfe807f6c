// `pull_request_review`, `pull_request_review_thread` and `pull_request_review_comment`.
import type { ReviewCommentDetail, ReviewDetail, ReviewThreadDetail } from '../log/codehost-details.ts';
import type { CodehostFact } from './codehost-fact.ts';
import { pullRequestScope } from './codehost-pull-request.ts';
import { knownDetail } from './only-known.ts';
import {
  asFields,
  type Fields,
  flagAt,
  integerAt,
  listAt,
  loginAt,
  objectAt,
  textAt,
  timeAt,
} from './payload-fields.ts';

export function reviewFact(payload: Fields, action: string): CodehostFact {
  const review = objectAt(payload, 'review');
  const pullRequest = objectAt(payload, 'pull_request');
  const detail: ReviewDetail = {
    reviewId: integerAt(review, 'id'),
    // The webhook writes it in small letters, the API of the same code host in capitals.
    state: textAt(review, 'state')?.toLowerCase(),
    reviewer: loginAt(review, 'user'),
    reviewedSha: textAt(review, 'commit_id'),
    body: textAt(review, 'body'),
    url: textAt(review, 'html_url'),
    title: textAt(pullRequest, 'title'),
    draft: flagAt(pullRequest, 'draft'),
  };
  return {
    topic: `codehost.pr_review.${action}`,
    scope: pullRequestScope(payload),
    occurredAt:
      (action === 'submitted' ? timeAt(review, 'submitted_at') : undefined) ??
      timeAt(pullRequest, 'updated_at'),
    title: detail.title,
    detail: knownDetail(detail),
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
    topic: `codehost.pr_review_thread.${action}`,
    scope: pullRequestScope(payload),
    occurredAt: timeAt(payload, 'updated_at') ?? timeAt(pullRequest, 'updated_at'),
    title: detail.title,
    detail: knownDetail(detail),
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
    topic: `codehost.pr_review_comment.${action}`,
    scope: pullRequestScope(payload),
    occurredAt: timeAt(comment, action === 'created' ? 'created_at' : 'updated_at'),
    title: detail.title,
    detail: knownDetail(detail),
  };
}
