// The deliveries of the code host and the tracker for one change.
import type { EventFields, EventScope } from '../packages/monitor/src/kernel/log/event-line.ts';
import type { Random } from '../packages/testkit/src/random.ts';

export type Subject = {
  repo: string;
  hasPreviews: boolean;
  pr: number;
  ticket: string;
  orchestrator: string;
  branch: string;
  author: string;
  reviewer: string;
};

export type World = { now: () => number; nextDeployment: () => number };

const apps = ['actions', 'security', 'coverage', 'lint', 'visual'];
const contexts = ['ci/build', 'ci/unit', 'ci/integration', 'ci/types', 'ci/licenses', 'ci/size'];

function codehost(
  event: string,
  { repo, ticket, author }: Subject,
  scope: EventScope,
  detail: object,
): EventFields {
  return {
    event: `codehost.${event}`,
    source: 'codehost.webhook',
    via: 'live',
    scope: { repo, ticket, ...scope },
    actor: { login: author, type: 'User' },
    detail: { ...detail },
  };
}

export function pullRequestUrl({ repo, pr }: Subject): string {
  return `https://codehost.example/${repo}/pull/${pr}`;
}

export function pullRequest(
  action: string,
  subject: Subject,
  sha: string,
  detail: object,
  mergeSha?: string,
): EventFields {
  const { pr, branch, ticket, author, repo } = subject;
  const scope = { pr, branch, sha, ...(mergeSha && { mergeSha }) };
  return codehost(`pr.${action}`, subject, scope, {
    title: `${ticket}: carry the order number through to the invoice`,
    url: pullRequestUrl(subject),
    state: 'open',
    draft: false,
    merged: false,
    author,
    base: 'main',
    headRepo: repo,
    labels: ['agent', 'backend'],
    requestedReviewers: [subject.reviewer],
    additions: 120,
    deletions: 31,
    changedFiles: 9,
    ...detail,
  });
}

export function push(subject: Subject, branch: string, sha: string): EventFields {
  const scope = { ref: `refs/heads/${branch}`, branch, sha };
  return codehost('push', subject, scope, {
    after: sha,
    before: sha.split('').toReversed().join(''),
    commits: 2,
    forced: false,
    created: false,
    deleted: false,
    url: `https://codehost.example/${subject.repo}/compare/${sha.slice(0, 12)}`,
    message: `${subject.ticket}: keep the number when an order is split`,
    pusher: subject.author,
  });
}

export function* checks(
  subject: Subject,
  sha: string,
  random: Random,
  branch = subject.branch,
): Generator<EventFields> {
  const prs = branch === 'main' ? [] : [subject.pr];
  for (const app of apps) {
    const suiteId = random.below(2 ** 31);
    const about = { branch, sha, ...(prs.length > 0 && { pr: subject.pr }) };
    yield codehost('check_suite.requested', subject, about, { suiteId, status: 'queued', prs, app });
    const conclusion = random.chance(0.9) ? 'success' : 'failure';
    yield codehost('check_suite.completed', subject, about, {
      suiteId,
      status: 'completed',
      conclusion,
      prs,
      app,
      checkRuns: 4,
    });
  }
  for (const context of contexts) {
    for (const state of ['pending', random.chance(0.95) ? 'success' : 'failure']) {
      const scope = { branch, sha };
      yield codehost(`status.${state}`, subject, scope, {
        statusId: random.below(2 ** 31),
        state,
        context,
        description: state === 'pending' ? 'Waiting for a runner' : 'Finished after 3 m 12 s',
        url: `https://ci.example/${subject.repo}/runs/${random.below(2 ** 31)}`,
        branches: [branch],
      });
    }
  }
}

export function* review(subject: Subject, sha: string, random: Random): Generator<EventFields> {
  const { pr, branch, reviewer } = subject;
  const about = { pr, branch, sha };
  const threadId = `PRRT_${hexOf(random, 16)}`;
  const path = 'src/orders/split-order.ts';
  yield reviewOf(subject, sha, random.pick(['changes_requested', 'commented']));
  yield codehost('pr_review_comment.created', subject, about, {
    commentId: random.below(2 ** 31),
    author: reviewer,
    body: 'What happens when the second half is canceled before the first is paid? '.repeat(2),
    path,
    line: 40,
  });
  const asked = { threadId, resolved: false, comments: 1, path };
  yield codehost('pr_review_thread.unresolved', subject, about, asked);
  const onPullRequest = { pr };
  yield codehost('issue_comment.created', subject, onPullRequest, {
    commentId: random.below(2 ** 31),
    author: 'coverage-bot',
    body: 'Coverage of the changed lines is 92 %, of the project 88 % (+0.1 %). '.repeat(3),
    issue: pr,
    onPullRequest: true,
  });
  const answered = { threadId, resolved: true, comments: 2, path };
  yield codehost('pr_review_thread.resolved', subject, about, answered);
}

export function reviewOf(subject: Subject, sha: string, state: string): EventFields {
  const { pr, branch, reviewer } = subject;
  const about = { pr, branch, sha };
  return codehost('pr_review.submitted', subject, about, {
    reviewId: pr * 100,
    state,
    reviewer,
    reviewedSha: sha,
    body: 'Reads well; one question about the split.',
    url: `${pullRequestUrl(subject)}#pullrequestreview-${pr * 100}`,
    draft: false,
  });
}

export function* deployment(
  subject: Subject,
  world: World,
  sha: string,
  environment: string,
  end: string,
): Generator<EventFields> {
  const deploymentId = world.nextDeployment();
  const scope = { sha, ref: environment === 'Preview' ? subject.branch : 'main', environment, deploymentId };
  yield codehost('deployment.created', subject, scope, {
    task: 'deploy',
    description: 'By the pipeline',
    creator: 'pipeline',
    productionEnvironment: environment === 'production',
  });
  for (const state of ['pending', 'in_progress', end]) {
    yield codehost(`deployment_status.${state}`, subject, scope, {
      state,
      statusId: deploymentId * 10,
      description: 'By the pipeline',
      logUrl: `https://ci.example/${subject.repo}/deploys/${deploymentId}`,
      environmentUrl: `https://${environment.toLowerCase()}.service.example`,
      creator: 'pipeline',
      task: 'deploy',
    });
  }
}

export function tracker(action: string, { ticket, author }: Subject, state: string): EventFields {
  return {
    event: `tracker.issue.${action}`,
    source: 'tracker.webhook',
    via: 'live',
    scope: { ticket },
    actor: { login: author, type: 'User' },
    detail: {
      id: `issue-${ticket}`,
      url: `https://tracker.example/issue/${ticket}`,
      title: 'Carry the order number through to the invoice',
      state: { id: `state-${state}`, name: state, type: 'started' },
      priority: 2,
      priorityLabel: 'High',
      assignee: { id: `user-${author}`, name: author },
      team: 'ABC',
      labels: ['agent', 'backend'],
      project: 'Invoices',
    },
  };
}

export function hexOf(random: Random, length: number): string {
  let text = '';
  while (text.length < length) text += random.below(0x1_0000).toString(16).padStart(4, '0');
  return text.slice(0, length);
}
