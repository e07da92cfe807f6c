// Events of workers.
import { type Fold, type FoldContext, on } from '../../kernel/board/fold-context.ts';
import { topicsIn } from '../../kernel/log/topic-family.ts';
import { reduceWorker, type WorkerTopic, workerKey } from './reduce-worker.ts';
import { putWorker } from './slice.ts';
import type { Worker } from './worker.ts';
import { resolve, withOwnAttention } from './worker-attention.ts';

/** `known`: before the line. */
type WorkerStep = (context: FoldContext, worker: Worker, known: Worker | undefined) => Worker;

declare module '../../kernel/board/fold-context.ts' {
  interface FoldSteps {
    /** What follows from a line of a worker, before it is on the board. */
    workerSteps: readonly WorkerStep[];
  }
}

function foldWorker(context: FoldContext<WorkerTopic>): void {
  const { board, line } = context;
  const { orchestrator, ticket } = line.scope;
  if (orchestrator === undefined || ticket === undefined) return;
  const known = board.workers.get(workerKey(orchestrator, ticket));
  const reduced = reduceWorker(known, line);
  if (reduced !== undefined) putReduced(context, reduced, known);
}

export function putReduced(context: FoldContext, reduced: Worker, known: Worker | undefined): void {
  const { board, steps } = context;
  putWorker(
    board,
    steps.workerSteps.reduce((worker, step) => step(context, worker, known), reduced),
  );
}

/** `dispatch-failed` is raised by the orchestrator; it is resolved once the worker is no longer failed. */
export function withAttention(context: FoldContext, worker: Worker, known: Worker | undefined): Worker {
  const isOver = known?.status === 'failed' && worker.status !== 'failed';
  return withOwnAttention(context, isOver ? resolve(context, worker, 'dispatch-failed') : worker);
}

export const workerFolds: readonly Fold[] = [
  on(
    [
      ...topicsIn('orchestrator.worker', ['dispatched', 'status_changed', 'phase_changed', 'updated']),
      ...topicsIn('orchestrator.worker', ['died', 'revived', 'removed', 'corrupt', 'retried', 'recalled']),
    ],
    foldWorker,
  ),
];
