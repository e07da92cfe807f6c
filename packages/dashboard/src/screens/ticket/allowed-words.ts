// What a person may say about a worker now, and why not. The daemon decides; this only spares a refusal.

import type { BoardView } from '@svc/core';
import { isAgentsWork } from '@svc/core/browser';

type WorkerRow = BoardView['workers'][number];
type RunRow = Pick<BoardView['runs'][number], 'state' | 'plan'>;
type Judged = Pick<WorkerRow, 'status' | 'deploy' | 'merge' | 'claim' | 'life'>;

export type WorkerWord = 'deploy-retry' | 'deploy-accept' | 'worker-retry';

/** The words that have a meaning for the worker as it stands. */
export function allowedWords(worker: Judged, run: RunRow | null): WorkerWord[] {
  const words: WorkerWord[] = [];
  const { status, deploy, claim } = worker;
  if (deploy !== null && (status === 'deploy-failed' || status === 'stalled')) words.push('deploy-retry');
  if (status !== 'done' && (deploy !== null || claim?.status === 'done')) words.push('deploy-accept');
  if (mayBeStartedAnew(worker, run)) words.push('worker-retry');
  return words;
}

/** One that works is left alone: only what ended, stalled or lost its process is offered a new start. */
function mayBeStartedAnew({ status, merge, life }: Judged, run: RunRow | null): boolean {
  if (merge !== null || run === null) return false;
  const isOver = run.state === 'completed' || run.state === 'canceled';
  // A run that others conduct does not go on by it.
  if (isOver && run.plan === null) return false;
  if (status === 'failed' || status === 'canceled' || status === 'stalled') return true;
  return isAgentsWork(status) && life.state === 'dead' && life.reviving !== true;
}
