// The six meanings of docs/internals/design-language.md and the classes that draw them. No other file names colours.
import type { BoardView, Run, WorkerStatus } from '@svc/core';
import { isAgentsWork } from '@svc/core/browser';

export type Meaning = 'motion' | 'you' | 'broken' | 'proven' | 'review' | 'unknown';

export const textOf: Record<Meaning, string> = {
  motion: 'text-motion',
  you: 'text-you',
  broken: 'text-broken',
  proven: 'text-proven',
  review: 'text-review',
  unknown: 'text-unknown',
};

export const groundOf: Record<Meaning, string> = {
  motion: 'bg-motion-soft',
  you: 'bg-you-soft',
  broken: 'bg-broken-soft',
  proven: 'bg-proven-soft',
  review: 'bg-review-soft',
  unknown: 'bg-unknown-soft',
};

export const markOf: Record<Meaning, string> = {
  motion: 'bg-motion-mark',
  you: 'bg-you-mark',
  broken: 'bg-broken-mark',
  proven: 'bg-proven-mark',
  review: 'bg-review-mark',
  unknown: 'bg-unknown-mark',
};

export const edgeOf: Record<Meaning, string> = {
  motion: 'border-motion-mark',
  you: 'border-you-mark',
  broken: 'border-broken-mark',
  proven: 'border-proven-mark',
  review: 'border-review-mark',
  unknown: 'border-unknown-mark border-dashed',
};

// What a state means, in a colour's name and in a word. One place decides it for every screen.

export type Standing = { meaning: Meaning; words: string };
type WorkerRow = BoardView['workers'][number];
export type StandingWorker = Pick<WorkerRow, 'status' | 'deploy' | 'merge' | 'life' | 'attempts' | 'budget'>;

const statusMeanings: Record<WorkerStatus, Meaning> = {
  dispatched: 'motion',
  researching: 'motion',
  planning: 'motion',
  implementing: 'motion',
  validating: 'motion',
  shipping: 'motion',
  'pr-created': 'review',
  merging: 'motion',
  merged: 'motion',
  deploying: 'motion',
  'deploy-failed': 'broken',
  done: 'proven',
  failed: 'broken',
  stalled: 'you',
  canceled: 'unknown',
};

const statusNames: Record<WorkerStatus, string> = {
  dispatched: 'Dispatched',
  researching: 'Researching',
  planning: 'Planning',
  implementing: 'Implementing',
  validating: 'Validating',
  shipping: 'Preparing a pull request',
  'pr-created': 'In review',
  merging: 'Merging',
  merged: 'Merged',
  deploying: 'Deploying',
  'deploy-failed': 'Deploy failed',
  done: 'Done',
  failed: 'Failed',
  stalled: 'Stalled',
  canceled: 'Canceled',
};

/** Of the status alone. What is known beside it may say more: `standingOf`. */
export function statusMeaning(status: string | null | undefined): Meaning {
  return isStatus(status) ? statusMeanings[status] : 'unknown';
}

/** `pr-created` is `In review`; a status that nobody knows stays as it is written. */
export function statusWords(status: string | null | undefined): string {
  if (isStatus(status)) return statusNames[status];
  return status === null || status === undefined ? 'Not begun' : status === 'unknown' ? 'Unknown' : status;
}

/** Only a person moves it on, whether or not an item of attention is open. */
export function isStuck({ status, attempts, budget }: StandingWorker): boolean {
  return status === 'failed' || status === 'stalled' || (status === 'deploy-failed' && attempts >= budget);
}

/**
 * Where a worker stands. `needsYou`: an item of attention of it waits for a person. What broke and needs a
 * person is amber, and the words say what broke. Done by a person's word is not proven. A worker whose pull
 * request was closed still says that it is in review; it is not.
 */
export function standingOf(
  worker: StandingWorker,
  needsYou = false,
  pullRequest: { state: string } | null = null,
): Standing {
  const { status, deploy, merge, life } = worker;
  const words = statusWords(status);
  if (status === 'done' && (merge === null || deploy?.result === 'accepted'))
    return { meaning: 'unknown', words: 'Done, accepted' };
  if (isStuck(worker)) return { meaning: 'you', words };
  if (pullRequest?.state === 'closed' && (status === 'pr-created' || status === 'merging'))
    return { meaning: 'you', words: 'Closed without a merge' };
  const isGone = life.state === 'dead' && isAgentsWork(status);
  if (isGone && life.reviving === true) return { meaning: 'motion', words: `${words}, restarting` };
  if (isGone) return { meaning: needsYou ? 'you' : 'broken', words: `${words}, process gone` };
  if (needsYou && status !== 'done' && status !== 'canceled')
    return { meaning: 'you', words: status === 'deploy-failed' ? words : `${words}, needs you` };
  return { meaning: statusMeanings[status], words };
}

export function runStanding(state: Run['state']): Standing {
  return { meaning: runMeanings[state], words: runNames[state] };
}

/** `null`: it has not begun. */
export function waveStanding(state: string | null): Standing {
  if (state === 'started') return { meaning: 'motion', words: 'Under way' };
  if (state === 'completed') return { meaning: 'proven', words: 'Completed' };
  if (state === 'blocked') return { meaning: 'you', words: 'Blocked' };
  return { meaning: 'unknown', words: 'Not begun' };
}

export function verificationStanding(state: string | null, advisory = false): Standing {
  if (state === 'passed') return { meaning: 'proven', words: 'Passed' };
  if (state === 'running') return { meaning: 'motion', words: 'Running' };
  if (state === 'failed')
    return advisory
      ? { meaning: 'broken', words: 'Failed, advisory' }
      : { meaning: 'broken', words: 'Failed' };
  return { meaning: 'unknown', words: 'None' };
}

const runMeanings: Record<Run['state'], Meaning> = {
  running: 'motion',
  paused: 'you',
  completed: 'proven',
  canceled: 'unknown',
  unknown: 'unknown',
};

const runNames: Record<Run['state'], string> = {
  running: 'Running',
  paused: 'Paused',
  completed: 'Completed',
  canceled: 'Canceled',
  unknown: 'Unknown',
};

function isStatus(status: string | null | undefined): status is WorkerStatus {
  return status !== null && status !== undefined && Object.hasOwn(statusMeanings, status);
}

/** Its process should run: later, reviewers and deploys have their turn without it. */
