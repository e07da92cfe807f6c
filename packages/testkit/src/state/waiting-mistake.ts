// Whether what an agent waits for is where people look for it: in attention, among what its worker needs, and in the
// column of the board.
import type { BoardView } from '@svc/core';
import { boardColumns } from '@svc/core/browser';

const waits = [
  ['needs-permission', 'agent-needs-permission'],
  ['needs-input', 'agent-needs-input'],
] as const;

/** `hidden`: the agent waits, and a place does not show it. `left over`: a place shows it, and the agent does not wait. */
export type WaitingMistake = 'hidden' | 'left over';

/** `state` is the truth about the agent of the ticket. */
export function waitingMistake(
  board: BoardView,
  ticket: string,
  state: string | null,
): WaitingMistake | null {
  const worker = board.workers.find((one) => one.ticket === ticket);
  const { columns } = boardColumns({ ...board, now: Date.parse(board.at ?? '') || 0, dayStart: 0 });
  const isOnBoard = columns['needs-you'].some((card) => card.worker?.ticket === ticket);
  for (const [waiting, reason] of waits) {
    const isNeeded = worker?.needs.includes(reason) === true;
    const isRaised = board.attention.some((item) => item.ticket === ticket && item.reason === reason);
    if (state === waiting && !(isNeeded && isRaised && isOnBoard)) return 'hidden';
    if (state !== waiting && (isNeeded || isRaised)) return 'left over';
  }
  return null;
}
