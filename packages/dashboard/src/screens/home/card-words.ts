// The title of a card, and what its first attention item says already.
import type { BoardCard } from 'svc-monitor/src/features/board/board-columns.ts';

/** A title of the own tracker comes before what another machine of the team says. */
export function titleOf(card: Pick<BoardCard, 'ticket' | 'pullRequest' | 'worker'>): string | null {
  const { ticket, pullRequest, worker } = card;
  return ticket?.title ?? pullRequest?.title ?? worker?.title ?? null;
}

/** Whether the first attention item already shows it. */
export function isShownBy(item: BoardCard['attention'][number] | undefined, what: 'deploy'): boolean {
  return item?.reason.startsWith(`${what}-`) ?? false;
}
