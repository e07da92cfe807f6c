// What the agent of a worker was given of its ticket, and the message about what changed since.
import { ask, type Fold, type FoldContext, on } from '../../kernel/board/fold-context.ts';
import { workerKey } from '../workers/reduce-worker.ts';
import { putWorker } from '../workers/slice.ts';
import { isPreMerge } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';

/** Whether its agent has to hear of changes of its ticket: in a run that we orchestrate, before the merge. */
export function isWatchedTicket(
  run: { plan: object | null; state: string } | undefined,
  worker: Worker,
): boolean {
  if (worker.given === null || run === undefined || run.plan === null) return false;
  const isUnderWay = run.state === 'running' || run.state === 'paused';
  return isUnderWay && isPreMerge(worker.status) && worker.merge === null && !worker.removed;
}

function foldTicketText(
  context: FoldContext<'orchestrator.ticket.given' | 'orchestrator.ticket.changed'>,
): void {
  const { board, line } = context;
  const { orchestrator = '', ticket = '' } = line.scope;
  const worker = board.workers.get(workerKey(orchestrator, ticket));
  const { digest } = line.detail;
  if (worker === undefined || digest === undefined) return;
  if (line.event === 'orchestrator.ticket.changed' && isWatchedTicket(board.runs.get(orchestrator), worker))
    ask(context, worker.key, {
      kind: 'message-worker',
      orchestrator,
      ticket,
      cause: 'ticket',
      number: null,
      repo: null,
      pr: null,
      sha: null,
      reviewId: null,
      url: board.tickets.get(ticket)?.url ?? null,
      text: line.detail.message ?? '',
    });
  putWorker(board, { ...worker, given: digest, lastSeq: line.seq, lastAt: line.ts });
}

export const ticketTextFolds: readonly Fold[] = [
  on(['orchestrator.ticket.given', 'orchestrator.ticket.changed'], foldTicketText),
];
