// The label of a worker and of its card, from what the board shows of it.
import type { WorkerStatus } from '@svc/contract/signal-file';
import { claimsPullRequest, isAgentsWork, shownStatus } from '@svc/contract/worker-statuses';
import { inLine, type Meaning, type StateLabel } from '../../kernel/board/label.ts';
import type { WorkerAgent } from './agent-fields.ts';
import type { WorkerView } from './entity.ts';
import { isShipped } from './status-groups.ts';

export type LabelledWorker = Pick<
  WorkerView,
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

function isStatus(status: string | null | undefined): status is WorkerStatus {
  return status !== null && status !== undefined && Object.hasOwn(statusMeanings, status);
}

/** Only a person can move it on, whether or not an attention item is open. */
export function isStuck({ status, attempts, budget }: LabelledWorker): boolean {
  return status === 'failed' || status === 'stalled' || (status === 'deploy-failed' && attempts >= budget);
}

/**
 * The label of a worker. `needsYou`: only a person can move it on. A failure that needs a person is amber, and the label
 * states the failure. Accepted by a person is not proven. A worker whose pull request was closed still reports that it is
 * in review; the label shows that it was closed. A pull request that nothing has shown is only claimed.
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
  if (pullRequest?.state === 'closed' && claimsPullRequest(status))
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

/** In a line of text, which says elsewhere that it needs a person. */
export function workerText(worker: LabelledWorker, pullRequest: { state: string } | null): string {
  return inLine(workerLabel(worker, false, pullRequest));
}
