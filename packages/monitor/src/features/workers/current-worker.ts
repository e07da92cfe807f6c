// Several runs may have a worker for one ticket. One of them speaks for the ticket: the one that started last, of those
// that were not given up.
import type { Board } from '../../kernel/board/board.ts';
import type { Worker } from './worker.ts';

export function currentWorker(workers: readonly Worker[]): Worker | undefined {
  const kept = workers.filter((worker) => !isGivenUp(worker));
  return (kept.length > 0 ? kept : workers).toSorted(byStart).at(-1);
}

/** The current worker of a ticket, in any run or in one. */
export function workerOfTicket(
  { workers }: Board,
  ticket: string,
  orchestrator?: string,
): Worker | undefined {
  const name = ticket.toUpperCase();
  return currentWorker(
    [...workers.values()].filter(
      (worker) =>
        worker.ticket.toUpperCase() === name &&
        (orchestrator === undefined || worker.orchestrator === orchestrator),
    ),
  );
}

export function isGivenUp({ status }: Worker): boolean {
  return status === 'canceled' || status === 'failed';
}

function byStart(one: Worker, other: Worker): number {
  return startOf(one) - startOf(other) || (one.key < other.key ? -1 : 1);
}

function startOf({ first }: Worker): number {
  return Date.parse(first.startedAt ?? '') || 0;
}

/** The current worker of a ticket, with a worker that is not on the board yet in this state. */
export function currentWorkerOf(board: Board, changed: Worker): Worker | undefined {
  const name = changed.ticket.toUpperCase();
  const others = [...board.workers.values()].filter(
    ({ key, ticket }) => key !== changed.key && ticket.toUpperCase() === name,
  );
  return currentWorker([...others, changed]);
}
