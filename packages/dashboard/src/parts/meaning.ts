// The six meanings of docs/internals/design-language.md and the classes that draw them. No other file names colours.
import type { BoardView, Run, Session, WorkerAgent, WorkerStatus } from '@svc/core';
import { claimsPullRequest, isAgentsWork, isShipped, shownStatus } from '@svc/core/browser';
import { clockWords } from './format.ts';

export type Meaning = 'motion' | 'you' | 'broken' | 'proven' | 'review' | 'unknown';

export const textOf: Record<Meaning, string> = {
  motion: 'text-motion',
  you: 'text-you',
  broken: 'text-broken',
  proven: 'text-proven',
  review: 'text-review',
  unknown: 'text-unknown',
};

export const backgroundOf: Record<Meaning, string> = {
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

// The colour and label for each state, the same on every screen.

export type StateLabel = { meaning: Meaning; words: string };
type WorkerRow = BoardView['workers'][number];
export type LabelledWorker = Pick<
  WorkerRow,
  'status' | 'deploy' | 'merge' | 'process' | 'attempts' | 'budget' | 'pullRequestKey'
> & { agent?: Pick<WorkerAgent, 'suspended'> | null };

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

/** From the status alone. `workerLabel` also takes the pull request, process and attention into account. */
export function statusMeaning(status: string | null | undefined): Meaning {
  return isStatus(status) ? statusMeanings[status] : 'unknown';
}

/** `pr-created` is `In review`; an unknown status is shown as it is. */
export function statusWords(status: string | null | undefined): string {
  if (status === null || status === undefined) return 'Not started';
  const words = shownStatus(status);
  return isStatus(status) || status === 'unknown' ? words.charAt(0).toUpperCase() + words.slice(1) : words;
}

/** Only a person can move it on, whether or not an attention item is open. */
export function isStuck({ status, attempts, budget }: LabelledWorker): boolean {
  return status === 'failed' || status === 'stalled' || (status === 'deploy-failed' && attempts >= budget);
}

/**
 * The colour and label of a worker. `needsYou`: only a person can move it on. A failure that needs a
 * person is amber, and the label states the failure. Accepted by a person is not proven. A worker whose pull request
 * was closed still reports that it is in review; the label shows that it was closed. One that nothing has shown is only
 * claimed.
 */
export function workerLabel(
  worker: LabelledWorker,
  needsYou = false,
  pullRequest: { state: string } | null = null,
): StateLabel {
  const { status, deploy, merge, process, pullRequestKey } = worker;
  const words = statusWords(status);
  if (isShipped(worker) && (merge === null || deploy?.result === 'accepted'))
    return { meaning: 'unknown', words: 'Done, accepted' };
  if (isStuck(worker)) return { meaning: 'you', words };
  if (pullRequest?.state === 'closed' && (status === 'pr-created' || status === 'merging'))
    return { meaning: 'you', words: 'Closed without merging' };
  if (claimsPullRequest(status) && pullRequestKey === null)
    return { meaning: needsYou ? 'you' : 'unknown', words: 'Claims a pull request; none was seen' };
  // svc ended the process of an agent that had nothing to do, and starts it again with the next message.
  const isGone = process.state === 'dead' && isAgentsWork(status) && worker.agent?.suspended === undefined;
  if (isGone && process.reviving === true) return { meaning: 'motion', words: `${words}, restarting` };
  if (isGone) return { meaning: needsYou ? 'you' : 'broken', words: `${words}, process exited` };
  if (needsYou && !isShipped(worker) && status !== 'canceled')
    return { meaning: 'you', words: status === 'deploy-failed' ? words : `${words}, needs you` };
  return { meaning: statusMeanings[status], words };
}

const agentStates: Record<NonNullable<WorkerAgent['state']>, { meaning: Meaning | null; words: string }> = {
  starting: { meaning: 'motion', words: 'Starting' },
  running: { meaning: 'motion', words: 'Working' },
  'needs-permission': { meaning: 'you', words: 'Waiting for your permission' },
  'needs-input': { meaning: 'you', words: 'Waiting for your answer' },
  idle: { meaning: null, words: 'Idle' },
  paused: { meaning: 'unknown', words: 'Paused by a usage limit' },
  ended: { meaning: null, words: 'Ended' },
};

/** A state without a meaning is plain text: an idle agent is neither in progress nor unknown. */
export function agentLabel({
  state,
  limit,
  suspended,
}: {
  state: WorkerAgent['state'] | Session['state'];
  limit?: WorkerAgent['limit'];
  suspended?: WorkerAgent['suspended'];
}): {
  meaning: Meaning | null;
  words: string;
} {
  if (limit?.endedAt === null)
    return limit.resumeAt === null
      ? { meaning: 'you', words: 'Usage limit, needs you' }
      : { meaning: null, words: `Paused until ${clockWords(Date.parse(limit.resumeAt), Date.now())}` };
  if (suspended !== undefined)
    return { meaning: null, words: `Idle, ended after ${suspended.minutes} min without work` };
  return state === null || state === 'unknown'
    ? { meaning: 'unknown', words: 'State unknown' }
    : agentStates[state];
}

export function runLabel(state: Run['state']): StateLabel {
  return { meaning: runMeanings[state], words: runNames[state] };
}

/** `null`: not started. */
export function waveLabel(state: string | null): StateLabel {
  if (state === 'started') return { meaning: 'motion', words: 'In progress' };
  if (state === 'completed') return { meaning: 'proven', words: 'Completed' };
  if (state === 'blocked') return { meaning: 'you', words: 'Blocked' };
  return { meaning: 'unknown', words: 'Not started' };
}

export function verificationLabel(state: string | null, advisory = false): StateLabel {
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

/** The agent's process should be running in this status. Later, reviews and deploys go on without it. */
