// Finds the worker of a ticket by the name that a person gives.
import { boardOf, type StateAccess } from '../../kernel/board/state-access.ts';
import { Failure } from '../../kernel/failure.ts';
import { workerOfTicket } from './current-worker.ts';
import type { Worker } from './worker.ts';

export function workerNamed(state: StateAccess, ticket: string, orchestrator: string | undefined): Worker {
  const worker = workerOfTicket(boardOf(state), ticket, orchestrator);
  if (!worker) throw unknownTicket(ticket, orchestrator);
  return worker;
}

export function unknownTicket(ticket: string, orchestrator?: string, machine?: string): Failure {
  const run = orchestrator === undefined ? '' : ` in the run ${orchestrator}`;
  const where = machine === undefined ? run : `${run} on ${machine}`;
  return new Failure(
    'unknown-ticket',
    `Unknown ticket ${ticket}${where}: no agent, pull request or ticket has this name.`,
    `List the tickets: svc board${machine === undefined ? '' : ' --team'}`,
  );
}
