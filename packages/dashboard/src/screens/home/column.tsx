// A column of the board. A long one renders only the visible cards.
import { Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown } from 'lucide-react';
import { Collapsible } from 'radix-ui';
import { memo, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import type { BoardCard, BoardColumn } from 'svc-monitor/src/features/board/board-columns.ts';
import { useView } from '../../live/live.tsx';
import { classNames } from '../../parts/class-names.ts';
import { Card, DoneRow } from './card.tsx';
import { CardAnswer } from './card-answer.tsx';

/** Up to this many cards are all rendered, so the browser's search finds them. */
const LONG = 60;

const names: Record<BoardColumn, { title: string; empty: string }> = {
  working: { title: 'Working', empty: 'No agent is working.' },
  'needs-you': { title: 'Needs you', empty: 'Nothing needs you.' },
  'in-review': { title: 'In review', empty: 'No open pull requests.' },
  shipping: { title: 'Shipping', empty: 'No merges or deploys in progress.' },
  'done-today': { title: 'Done today', empty: 'Nothing done today yet.' },
};

const needsPerson = { title: 'Needs a person', empty: 'Nothing needs a person.' };

/** Rendered again when its cards change, not at every clock tick. */
export const Column = memo(function Column({
  name,
  cards,
  at,
  filtered,
  others = 0,
}: {
  name: BoardColumn;
  cards: readonly BoardCard[];
  at: string | null;
  filtered: boolean;
  /** What belongs to it and has no card. */
  others?: number;
}) {
  const isTeam = useView() === 'team';
  const { title, empty } = isTeam && name === 'needs-you' ? needsPerson : names[name];
  const rows = name === 'done-today';
  const draw = (card: BoardCard): ReactNode =>
    rows ? (
      <DoneRow card={card} at={at} />
    ) : (
      <>
        <Card card={card} column={name} at={at} />
        <CardAnswer card={card} at={at} />
      </>
    );
  const id = `column-${name}`;
  const count = cards.length + others;
  return (
    <Collapsible.Root asChild defaultOpen>
      <section aria-labelledby={id} className="flex min-w-0 flex-col">
        <Collapsible.Trigger className="group sticky top-0 z-10 flex h-9 items-center gap-2 bg-ground text-left max-wide:h-11">
          <h2 id={id} className="text-small">
            {title}
          </h2>
          <span
            className={classNames(
              'rounded-full px-1.5 text-tiny font-medium',
              name === 'needs-you' && count > 0 ? 'bg-you-soft text-you' : 'bg-sunken text-muted',
            )}
          >
            {count}
          </span>
          <ChevronDown
            aria-hidden="true"
            className="ml-auto size-4 text-muted opacity-0 transition group-hover:opacity-100 group-focus-visible:opacity-100 group-data-[state=closed]:-rotate-90 group-data-[state=closed]:opacity-100"
          />
        </Collapsible.Trigger>
        <Collapsible.Content>
          {others > 0 && (
            <p className="mb-2 text-tiny text-muted">
              <Link to="/attention" className="underline underline-offset-2">
                {others} without a card
              </Link>
            </p>
          )}
          {count > 0 && cards.length === 0 ? null : cards.length === 0 ? (
            <p className="rounded-card border border-line border-dashed p-3 text-tiny text-muted">
              {filtered ? 'No matches.' : empty}
            </p>
          ) : cards.length > LONG ? (
            <LongList cards={cards} draw={draw} gap={rows ? 0 : 8} height={rows ? 50 : 140} />
          ) : (
            <ul className={classNames('flex flex-col', !rows && 'gap-2')}>
              {cards.map((card) => (
                <li key={card.key} data-card={card.key} className="flex flex-col">
                  {draw(card)}
                </li>
              ))}
            </ul>
          )}
        </Collapsible.Content>
      </section>
    </Collapsible.Root>
  );
});

function LongList({
  cards,
  draw,
  gap,
  height,
}: {
  cards: readonly BoardCard[];
  draw: (card: BoardCard) => ReactNode;
  gap: number;
  height: number;
}) {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  // The content above may grow, so the position is measured after every change.
  useLayoutEffect(() => {
    const offset = list.current?.getBoundingClientRect().top ?? 0;
    setTop(Math.round(offset + window.scrollY));
  });
  const virtual = useWindowVirtualizer({
    count: cards.length,
    estimateSize: () => height,
    gap,
    overscan: 6,
    scrollMargin: top,
    getItemKey: (index) => cards[index]?.key ?? index,
  });
  return (
    <ul ref={list} className="relative" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ key, index, start }) => {
        const card = cards[index];
        if (card === undefined) return null;
        return (
          <li
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            data-card={card.key}
            aria-setsize={cards.length}
            aria-posinset={index + 1}
            className="absolute inset-x-0 top-0 flex flex-col"
            style={{ transform: `translateY(${start - top}px)` }}
          >
            {draw(card)}
          </li>
        );
      })}
    </ul>
  );
}
