// The answer to the agent of a card, below the card: the card itself is one link.
import { useRef } from 'react';
import type { BoardCard } from 'svc-monitor/src/features/board/board-columns.ts';
import { useDisabledBecause } from '../../live/live.tsx';
import { canBeAnswered, WorkerAnswer } from '../answer/answer-box.tsx';

/** Whether the card is followed by the answer: not of another machine, which does not share what its agents write. */
export function hasAnswer({ worker }: BoardCard, at: string | null): boolean {
  return at === null && worker !== null && worker.machine === undefined && canBeAnswered(worker);
}

/** Its keys count while the card has the focus. */
export function CardAnswer({ card, at }: { card: BoardCard; at: string | null }) {
  const frame = useRef<HTMLDivElement>(null);
  const disabledBecause = useDisabledBecause();
  const hasFocus = (): boolean =>
    frame.current?.closest('[data-card]')?.contains(document.activeElement) === true;
  if (card.worker === null || !hasAnswer(card, at)) return null;
  return (
    <div
      ref={frame}
      className="-mt-px min-w-0 rounded-b-card border border-line border-t-0 border-l-3 border-l-you-mark bg-surface px-2 pt-1 pb-2"
    >
      <WorkerAnswer worker={card.worker} place="card" keys={hasFocus} disabledBecause={disabledBecause} />
    </div>
  );
}

/** `j` and `k` move the focus from card to card, in the order of the columns. */
export function focusCard(by: 1 | -1): void {
  const cards = [...document.querySelectorAll<HTMLElement>('[data-card] > a')];
  const at = cards.findIndex((card) => card.closest('[data-card]')?.contains(document.activeElement));
  const next = at < 0 ? cards[0] : cards[at + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
