// Where the known facts contradict each other, and what is not known. Both are shown to the user.
import { agentSays, isAgentsWork, shownStatus } from '@svc/contract/worker-statuses';
import type { Board } from '../../kernel/board/board.ts';
import { mergeReadiness } from '../pull-requests/fold-pull-request.ts';
import { isInLifecycle, isWaitingForDeploy } from '../workers/deploy-stage.ts';
import { processOf } from '../workers/known-process.ts';
import { isEnded, isPreMerge, isShipped } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import { nameOf } from './rule.ts';
import { nameOfPullRequest, type Subject, shortSha } from './subject.ts';

/** Deployments of other commits that are listed one by one. */
const MOST_UNPROVEN = 5;

export function contradictionsIn(subject: Subject): string[] {
  const { worker } = subject;
  if (worker === null) return [];
  const { claim, status, process, removed } = worker;
  const found: string[] = [];
  if (claim !== null && claim.status !== status)
    found.push(`${agentSays(claim.status)}, but the observed events show ${shownStatus(status)}.`);
  found.push(
    ...withClaimedPullRequest(subject, worker),
    ...withPullRequest(subject, worker),
    ...withDeployments(subject, worker),
    ...withTracker(subject, worker),
  );
  if (isWorking(worker) && isAgentsWork(status) && process.state === 'dead')
    found.push(`The process is not running, but the status is ${shownStatus(status)}.`);
  if (isWorking(worker) && removed)
    found.push(`Its status file was deleted, but the status was ${shownStatus(status)}.`);
  return found;
}

function withPullRequest(subject: Subject, worker: Worker): string[] {
  const { pullRequest } = subject;
  const { status, deploy } = worker;
  if (pullRequest === null) return [];
  const name = nameOf(subject);
  if (pullRequest.state === 'merged')
    return !isInLifecycle(worker) ? [`${name} is merged, but the status is ${shownStatus(status)}.`] : [];
  if (isShipped(worker) || deploy !== null)
    return [`The status is ${shownStatus(status)}, but ${name} is not merged.`];
  return pullRequest.state === 'closed' && isWorking(worker)
    ? [`${name} was closed without a merge, but the status is ${shownStatus(status)}.`]
    : [];
}

/** The file names a pull request that was seen, but is not the worker's own. */
function withClaimedPullRequest({ foreign }: Subject, { branch, ticket }: Worker): string[] {
  if (foreign === null) return [];
  const whose = foreign.ticket ?? `the branch ${foreign.branch ?? 'unknown'}`;
  const ours = branch === null ? ticket : `${ticket} (branch ${branch})`;
  return [
    `The agent names ${nameOfPullRequest(foreign)}, which belongs to ${whose}, not to ${ours}, or ended before the agent started. It does not count.`,
  ];
}

function withDeployments(subject: Subject, worker: Worker): string[] {
  const { status, deploy } = worker;
  if (deploy === null || isShipped(worker)) return [];
  const success = subject.counted.find(({ states }) => states.some(({ state }) => state === 'success'));
  if (success === undefined) return [];
  const seen = `Deployment ${success.id} of ${shortSha(success.sha)} to ${deploy.environment} succeeded`;
  return [
    deploy.result === 'budget-exhausted'
      ? `${seen} after the budget was exhausted, so production has it. A person has to confirm it: svc deploy accept ${subject.ticket}.`
      : `${seen}, but the status is ${shownStatus(status)}.`,
  ];
}

function withTracker({ tracked }: Subject, worker: Worker): string[] {
  const type = tracked?.state?.type;
  const ended = type === 'completed' || type === 'canceled';
  return tracked !== null && ended && !isEnded(worker.status)
    ? [
        `${tracked.local === true ? 'The local ticket is' : 'The tracker reports'} ${tracked.state?.name ?? type}, but the status is ${shownStatus(worker.status)}.`,
      ]
    : [];
}

export function unknownsIn(board: Board, subject: Subject, now: number): string[] {
  const { worker, pullRequest, ticket } = subject;
  const found = blindFeeds(board);
  if (worker === null) found.push(`No run works on ${ticket}. To start one: svc orchestrate start ${ticket}`);
  else found.push(...ofWorker(subject, worker, now));
  if (pullRequest?.state === 'open' && mergeReadiness(pullRequest).ready === null)
    found.push(`It is not known whether ${nameOf(subject)} can be merged.`);
  return found;
}

function blindFeeds(board: Board): string[] {
  return [...board.feeds.values()]
    .filter(({ grade }) => grade === 'blind' || grade === 'degraded')
    .map(
      ({ feed, grade, since }) =>
        `The ${feed} feed has been ${grade} since ${since}: some events may be missing.`,
    );
}

function ofWorker(subject: Subject, worker: Worker, now: number): string[] {
  const { corrupt, repo, pr, merge, deploy } = worker;
  const found: string[] = [];
  if (corrupt !== null) found.push('Its status file cannot be read, so its current status is not known.');
  if (isWorking(worker) && processOf(worker).state === 'unknown')
    found.push('It is not known whether the process is running.');
  if (pr !== null && subject.pullRequest === null)
    found.push(
      repo === null
        ? `The agent names no repository, so ${nameOf(subject)} cannot be looked up.`
        : `${nameOf(subject)} has not been seen on the code host.`,
    );
  if (merge !== null && merge.sha === null) found.push('The merge commit is not known.');
  if (deploy === null || !isWaitingForDeploy(worker)) return found;
  if (now >= Date.parse(deploy.deadline))
    found.push(
      'The deadline has passed; svc checks the code host once more before the ticket becomes stalled.',
    );
  return [...found, ...unproven(subject, worker)];
}

function unproven(subject: Subject, { merge, policy, refuted }: Worker): string[] {
  if (merge === null || !policy.acceptDescendants) return [];
  return subject
    .uncounted()
    .filter(({ lastSeq }) => lastSeq > merge.seq)
    .slice(0, MOST_UNPROVEN)
    .map(({ id, sha }) =>
      refuted.some(({ pair, reverted }) => reverted && pair.endsWith(`..${sha}`))
        ? `Deployment ${id} is of ${shortSha(sha)}, which comes after the merge, but its change was reverted in between.`
        : `Deployment ${id} is of ${shortSha(sha)}, which is not proven to contain the merge.`,
    );
}

/** A process should be running. After the merge none is needed. */
function isWorking(worker: Worker): boolean {
  return !isInLifecycle(worker) && isPreMerge(worker.status);
}
