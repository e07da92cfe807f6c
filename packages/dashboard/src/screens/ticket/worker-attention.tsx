// What of this ticket waits for a person, with its remedy.
import type { BoardView } from '@svc/core';
import { Link } from '@tanstack/react-router';
import { BellDot } from 'lucide-react';
import { useNow } from '../../live/live.tsx';
import { classNames } from '../../parts/class-names.ts';
import { EventLink } from '../../parts/event-link.tsx';
import { OutsideText } from '../../parts/outside.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { For } from '../../parts/since.tsx';
import { clockWords } from '../../parts/time-words.ts';
import { isWaiting } from '../attention/is-waiting.ts';

type AttentionRow = BoardView['attention'][number];

export function WorkerAttention({ items }: { items: readonly AttentionRow[] }) {
  const now = useNow();
  if (items.length === 0) return null;
  return (
    <ul aria-label="Needs you" className="flex flex-col gap-2">
      {items.map((item) => (
        <li
          key={item.id}
          className={classNames(
            'flex flex-col gap-2 rounded-card border px-4 py-3 text-small',
            isWaiting(item, now) ? 'border-you-mark bg-you-soft' : 'border-line bg-surface',
          )}
        >
          <p
            className={classNames('flex gap-2.5 text-body', isWaiting(item, now) ? 'text-you' : 'text-text')}
          >
            <BellDot aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
            <OutsideText>{item.message}</OutsideText>
          </p>
          <div className="flex flex-wrap items-center gap-x-4 gap-y-1 pl-6.5 text-muted">
            <span>
              {item.reason.replaceAll('-', ' ')}, open <For at={item.openedAt} />
              {item.times > 1 && `, raised ${item.times} times`}
            </span>
            {item.acknowledged && (
              <span>
                acknowledged by <OutsideText>{item.acknowledged.by}</OutsideText>
              </span>
            )}
            {item.snoozedUntil !== null && Date.parse(item.snoozedUntil) > now && (
              <span>snoozed until {clockWords(Date.parse(item.snoozedUntil), now)}</span>
            )}
            <EventLink seq={item.evidence.at(-1) ?? item.openedSeq} />
            <Remedy text={item.remedy} />
            <Link
              to="/attention"
              search={{ id: item.id }}
              className="font-medium text-ink underline decoration-line-strong underline-offset-2"
            >
              Handle in attention
            </Link>
          </div>
        </li>
      ))}
    </ul>
  );
}
