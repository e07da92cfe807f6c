// The detail of code-host events: the published actions and states of the ten subscribed types, and the fields kept
// from each. All fields are optional: a missing field in a payload must never lose the event.
import { z } from 'zod';
import { Detail, text, time, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';

export const pullRequestActions = [
  'assigned',
  'auto_merge_disabled',
  'auto_merge_enabled',
  'closed',
  'converted_to_draft',
  'demilestoned',
  'dequeued',
  'edited',
  'enqueued',
  'labeled',
  'locked',
  'milestoned',
  'opened',
  'ready_for_review',
  'reopened',
  'review_request_removed',
  'review_requested',
  'synchronize',
  'unassigned',
  'unlabeled',
  'unlocked',
] as const;
/** Our own actions: a merge, and the mergeability that a poll found. */
export const ownPullRequestActions = ['merged', 'refreshed'] as const;
export const reviewActions = ['submitted', 'edited', 'dismissed'] as const;
export const reviewThreadActions = ['resolved', 'unresolved'] as const;
export const commentActions = ['created', 'edited', 'deleted'] as const;
export const checkSuiteActions = ['completed', 'requested', 'rerequested'] as const;
export const commitStatusStates = ['pending', 'success', 'failure', 'error'] as const;
export const deploymentStates = [
  'pending',
  'queued',
  'waiting',
  'in_progress',
  'success',
  'failure',
  'error',
  'inactive',
] as const;

const whole = z.int().optional();
const flag = z.boolean().optional();
const texts = z.array(z.string()).optional();

export const PullRequestDetail = Detail.extend({
  title: text,
  url: text,
  state: text.describe('open or closed'),
  draft: flag,
  merged: flag,
  mergedAt: time,
  mergedBy: text,
  mergeable: flag,
  mergeableState: text,
  autoMerge: flag,
  author: text,
  base: text.describe('the target branch'),
  headRepo: text,
  labels: texts,
  requestedReviewers: texts,
  createdAt: time,
  closedAt: time,
  additions: whole,
  deletions: whole,
  changedFiles: whole,
  label: text.describe('the label that was added or removed'),
  assignee: text,
  requestedReviewer: text.describe('the person or team whose review was requested, or no longer is'),
  before: text,
  after: text,
  changed: texts.describe('what an edit changed: title, body, base'),
});

export const ReviewDetail = Detail.extend({
  reviewId: whole,
  state: text.describe('approved, changes_requested, commented or dismissed'),
  reviewer: text,
  reviewedSha: text,
  body: text,
  url: text,
  title: text,
  draft: flag,
});

export const ReviewThreadDetail = Detail.extend({
  threadId: text,
  resolved: flag,
  comments: whole.describe('count'),
  path: text,
  line: whole,
  url: text,
  title: text,
});

export const ReviewCommentDetail = Detail.extend({
  commentId: whole,
  reviewId: whole,
  inReplyTo: whole,
  author: text,
  body: text,
  path: text,
  line: whole,
  url: text,
  title: text,
});

export const IssueCommentDetail = Detail.extend({
  commentId: whole,
  author: text,
  body: text,
  url: text,
  title: text,
  issue: whole.describe('the issue or pull request number'),
  onPullRequest: flag,
});

export const CheckSuiteDetail = Detail.extend({
  suiteId: whole,
  status: text,
  conclusion: text,
  prs: z.array(z.int()).optional().describe('pull requests of this repository that the suite checks'),
  app: text,
  checkRuns: whole,
  before: text,
  after: text,
});

export const CommitStatusDetail = Detail.extend({
  statusId: whole,
  state: text,
  context: text,
  description: text,
  url: text,
  branches: texts,
});

export const PushDetail = Detail.extend({
  before: text,
  after: text,
  commits: whole.describe('count'),
  forced: flag,
  created: flag,
  deleted: flag,
  tag: text,
  base: text,
  url: text,
  message: text.describe('the message of the head commit'),
  pusher: text,
});

export const DeploymentDetail = Detail.extend({
  task: text,
  description: text,
  creator: text,
  originalEnvironment: text,
  productionEnvironment: flag,
  transientEnvironment: flag,
  url: text,
});

export const DeploymentStatusDetail = Detail.extend({
  state: text,
  statusId: whole,
  description: text,
  logUrl: text,
  environmentUrl: text,
  targetUrl: text,
  creator: text,
  task: text,
  deploymentCreatedAt: time,
});

/** An accepted delivery outside the published types and actions: kept, but not interpreted. */
const OtherDetail = Detail.extend({ type: text, action: text });

export const codehostTopics = {
  ...topicFamily('codehost.pr', [...pullRequestActions, ...ownPullRequestActions], PullRequestDetail),
  ...topicFamily('codehost.pr_review', reviewActions, ReviewDetail),
  ...topicFamily('codehost.pr_review_thread', reviewThreadActions, ReviewThreadDetail),
  ...topicFamily('codehost.pr_review_comment', commentActions, ReviewCommentDetail),
  ...topicFamily('codehost.check_suite', checkSuiteActions, CheckSuiteDetail),
  ...topicFamily('codehost.status', commitStatusStates, CommitStatusDetail),
  ...topicFamily('codehost', ['push'], PushDetail),
  ...topicFamily('codehost.issue_comment', commentActions, IssueCommentDetail),
  ...topicFamily('codehost.deployment', ['created'], DeploymentDetail),
  ...topicFamily('codehost.deployment_status', deploymentStates, DeploymentStatusDetail),
  ...topicFamily('codehost', ['other'], OtherDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof codehostTopics> {}
}

export type PullRequestDetail = z.infer<typeof PullRequestDetail>;
export type ReviewDetail = z.infer<typeof ReviewDetail>;
export type ReviewThreadDetail = z.infer<typeof ReviewThreadDetail>;
export type ReviewCommentDetail = z.infer<typeof ReviewCommentDetail>;
export type IssueCommentDetail = z.infer<typeof IssueCommentDetail>;
export type CheckSuiteDetail = z.infer<typeof CheckSuiteDetail>;
export type CommitStatusDetail = z.infer<typeof CommitStatusDetail>;
export type PushDetail = z.infer<typeof PushDetail>;
export type DeploymentDetail = z.infer<typeof DeploymentDetail>;
export type DeploymentStatusDetail = z.infer<typeof DeploymentStatusDetail>;
type OtherDetail = z.infer<typeof OtherDetail>;
