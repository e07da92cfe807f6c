// The words of a card on the board.
import type { StateLabel } from '../../kernel/board/label.ts';
import { isShipped } from '../workers/status-groups.ts';
import { workerLabel } from '../workers/worker-label.ts';
import type { BoardCard } from './board-columns.ts';

/** The column of a card shows that it needs a person, so its words leave that out. */
export function cardLabel({ worker, pullRequest }: BoardCard, needsYou: boolean): StateLabel {
  if (worker === null) return { meaning: needsYou ? 'you' : 'review', words: 'Open, no agent' };
  const label = workerLabel(worker, false, pullRequest);
  return needsYou ? { ...label, meaning: 'you' } : label;
}

/** The end of the standard error of an agent that exited, unless the attention item shows it already. */
export function errorsOf({ worker, attention }: Pick<BoardCard, 'worker' | 'attention'>): string | null {
  if (worker === null || isShipped(worker) || worker.status === 'canceled') return null;
  const isShown = attention[0]?.reason === 'worker-dead' || attention[0]?.reason === 'worker-stalled';
  return isShown ? null : (worker.process.stderr ?? null);
}
