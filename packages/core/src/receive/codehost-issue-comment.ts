// `issue_comment`: a comment on an issue or on the conversation of a pull request, where previews are linked.
import type { IssueCommentDetail } from '../log/codehost-details.ts';
import type { CodehostFact } from './codehost-fact.ts';
import { knownDetail } from './only-known.ts';
import { type Fields, hasObject, integerAt, loginAt, objectAt, textAt, timeAt } from './payload-fields.ts';

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
    topic: `codehost.issue_comment.${action}`,
    scope: { pr: onPullRequest ? detail.issue : undefined },
    occurredAt: timeAt(comment, action === 'created' ? 'created_at' : 'updated_at'),
    title: detail.title,
    detail: knownDetail(detail),
  };
}
