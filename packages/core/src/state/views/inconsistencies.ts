// Where the known facts contradict each other, and what is not known. Both are shown to the user.
import { isEnded, isInLifecycle, isPreMerge, isWaitingForDeploy } from '../../deploy/deploy-worker.ts';
import type { Board, Worker } from '../board-types.ts';
import { mergeReadiness } from '../fold-pull-request.ts';
import { nameOf } from './rule.ts';
import { type Subject, shortSha } from './subject.ts';

/** Deployments of other commits that are listed one by one. */
const MOST_UNPROVEN = 5;

export function contradictionsIn(subject: Subject): string[] {
  const { worker } = subject;
  if (worker === null) return [];
  const { claim, status, process, removed } = worker;
  const found: string[] = [];
  if (claim !== null && claim.status !== status)
    found.push(`The signal file reports ${claim.status}, but the observed events show ${status}.`);
  found.push(
    ...withPullRequest(subject, worker),
    ...withDeployments(subject, worker),
    ...withTracker(subject, worker),
  );
  if (isWorking(worker) && process.state === 'dead')
    found.push(`The process is not running, but the status is ${status}.`);
  if (isWorking(worker) && removed) found.push(`The signal file was deleted, but the status was ${status}.`);
  return found;
}

function withPullRequest(subject: Subject, worker: Worker): string[] {
  const { pullRequest } = subject;
  const { status, deploy } = worker;
  if (pullRequest === null) return [];
  const name = nameOf(subject);
  if (pullRequest.state === 'merged')
    return !isInLifecycle(worker) ? [`${name} is merged, but the worker is ${status}.`] : [];
  if (status === 'done' || deploy !== null) return [`The worker is ${status}, but ${name} is not merged.`];
  return pullRequest.state === 'closed' && isWorking(worker)
    ? [`${name} was closed without a merge, but the worker is ${status}.`]
    : [];
}

function withDeployments(subject: Subject, { status, deploy }: Worker): string[] {
  if (deploy === null || status === 'done') return [];
  const success = subject.counted.find(({ states }) => states.some(({ state }) => state === 'success'));
  if (success === undefined) return [];
  const seen = `Deployment ${success.id} of ${shortSha(success.sha)} to ${deploy.environment} succeeded`;
  return [
    deploy.result === 'budget-exhausted'
      ? `${seen}, but the budget was already exhausted: a person has to decide.`
      : `${seen}, but the worker is ${status}.`,
  ];
}

function withTracker({ tracked }: Subject, worker: Worker): string[] {
  const type = tracked?.state?.type;
  const ended = type === 'completed' || type === 'canceled';
  return ended && !isEnded(worker.status)
    ? [`The tracker reports ${tracked?.state?.name ?? type}, but the worker is ${worker.status}.`]
    : [];
}

export function unknownsIn(board: Board, subject: Subject, now: number): string[] {
  const { worker, pullRequest, ticket } = subject;
  const found = blindFeeds(board);
  if (worker === null)
    found.push(`There is no signal file for ${ticket}, so it is not known whether anyone works on it.`);
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
  const { process, corrupt, repo, pr, merge, deploy } = worker;
  const found: string[] = [];
  if (corrupt !== null)
    found.push("The signal file cannot be read, so the worker's current status is not known.");
  if (isWorking(worker) && process.state === 'unknown')
    found.push('It is not known whether the process is running.');
  if (pr !== null && subject.pullRequest === null)
    found.push(
      repo === null
        ? `The signal file names no repository, so ${nameOf(subject)} cannot be looked up.`
        : `${nameOf(subject)} has not been seen on the code host.`,
    );
  if (merge !== null && merge.sha === null) found.push('The merge commit is not known.');
  if (deploy === null || !isWaitingForDeploy(worker)) return found;
  if (now >= Date.parse(deploy.deadline))
    found.push(
      'The deadline has passed; svc checks the code host once more before the worker becomes stalled.',
    );
  return [...found, ...unproven(subject, worker)];
}

function unproven(subject: Subject, { merge, policy }: Worker): string[] {
  if (merge === null || !policy.acceptDescendants) return [];
  return subject
    .uncounted()
    .filter(({ lastSeq }) => lastSeq > merge.seq)
    .slice(0, MOST_UNPROVEN)
    .map(
      ({ id, sha }) => `Deployment ${id} is of ${shortSha(sha)}, which is not proven to contain the merge.`,
    );
}

/** A process should be running. After the merge none is needed. */
function isWorking(worker: Worker): boolean {
  return !isInLifecycle(worker) && isPreMerge(worker.status);
}
