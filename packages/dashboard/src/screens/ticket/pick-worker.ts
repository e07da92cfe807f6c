// Which worker a ticket's page is about: the one of the run in the address, else the one that was told of last.
import type { BoardView } from '@svc/core';

type WorkerRow = BoardView['workers'][number];

type PickedWorker = {
  worker: WorkerRow | null;
  /** All that the ticket has, the newest first. */
  choices: WorkerRow[];
};

export function pickWorker(
  workers: Iterable<WorkerRow>,
  ticket: string,
  run: string | undefined,
): PickedWorker {
  const name = ticket.toUpperCase();
  const choices = [...workers]
    .filter((worker) => worker.ticket.toUpperCase() === name)
    .toSorted((one, other) => other.lastSeq - one.lastSeq);
  const worker = run === undefined ? choices[0] : choices.find(({ orchestrator }) => orchestrator === run);
  return { worker: worker ?? null, choices };
}
