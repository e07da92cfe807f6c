// Whether what an agent waits for is where people look for it: in attention, among what its worker needs, in the column of
// the board, and in the number of what needs a person.
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { boardColumns, isWaiting, needsYouCount } from 'svc-monitor/src/features/board/board-columns.ts';

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
  const now = Date.parse(board.at ?? '') || 0;
  const { columns } = boardColumns({ ...board, now, dayStart: 0 });
  const isOnBoard = columns['needs-you'].some((card) => card.worker?.ticket === ticket);
  // Each ticket and each session with an open item counts, and so does everything else that has one.
  const subjects = new Set(
    board.attention
      .filter((item) => isWaiting(item, now))
      .map((item) => item.ticket?.toUpperCase() ?? item.session ?? item.id),
  );
  if (state !== null && waits.some(([waiting]) => waiting === state)) subjects.add(ticket.toUpperCase());
  if (needsYouCount({ ...board, now }).total < subjects.size) return 'hidden';
  for (const [waiting, reason] of waits) {
    const isNeeded = worker?.needs.includes(reason) === true;
    const isRaised = board.attention.some((item) => item.ticket === ticket && item.reason === reason);
    if (state === waiting && !(isNeeded && isRaised && isOnBoard)) return 'hidden';
    if (state !== waiting && (isNeeded || isRaised)) return 'left over';
  }
  return null;
}
