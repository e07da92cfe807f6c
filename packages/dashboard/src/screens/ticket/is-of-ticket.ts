import type { EventLine } from '@svc/core';

/** Whether a line tells of the ticket, in this run or in none. */
export function isOfTicket(
  { scope }: Pick<EventLine, 'scope'>,
  ticket: string,
  run: string | undefined,
): boolean {
  if (scope.ticket?.toUpperCase() !== ticket.toUpperCase()) return false;
  return run === undefined || scope.orchestrator === undefined || scope.orchestrator === run;
}
