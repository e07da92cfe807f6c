// Everything about one item, and what can be done with it.
import type { AttentionItem } from '@svc/core';
import { Link } from '@tanstack/react-router';
import { Check, CheckCheck, Clock, UserRoundPen } from 'lucide-react';
import type { ReactNode } from 'react';
import { postJson } from '../../api/client.ts';
import { useLiveBoard, useNow } from '../../live/live.tsx';
import { Age } from '../../parts/age.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { EventLink } from '../../parts/event-link.tsx';
import { OutsideText } from '../../parts/outside.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { clockWords } from '../../parts/time-words.ts';
import { HandOver } from './hand-over.tsx';
import { nameOf } from './item-row.tsx';
import { reasonWords } from './reason-words.ts';
import { actionsOf } from './remedy-action.ts';
import { SnoozeMenu } from './snooze-menu.tsx';
import type { Word } from './use-words.ts';
import { speaker } from './your-name.ts';

export type Opened = 'snooze' | 'hand-over' | null;

export function ItemDetail({
  item,
  onWord,
  opened,
  onOpened,
  isPast,
}: {
  item: AttentionItem;
  onWord: (word: Word) => void;
  /** Which of the two that ask for more is open; a key may open it. */
  opened: Opened;
  onOpened: (opened: Opened) => void;
  isPast: boolean;
}) {
  const now = useNow();
  const { ticket, orchestrator, acknowledged, handedOver, snoozedUntil } = item;
  const isAsleep = snoozedUntil !== null && Date.parse(snoozedUntil) > now;
  return (
    <article aria-label={`${nameOf(item)}: ${reasonWords(item.reason)}`} className="flex flex-col gap-4">
      <header className="flex flex-col gap-1.5">
        <span className="flex flex-wrap items-center gap-2">
          <h2 className="text-lead">{reasonWords(item.reason)}</h2>
          {item.severity === 'high' ? (
            <Pill meaning="you">high</Pill>
          ) : (
            <OutsideText className="text-tiny text-muted">{item.severity}</OutsideText>
          )}
        </span>
        <OutsideText className="text-body text-text">{item.message}</OutsideText>
      </header>
      {!isPast && (
        <div className="flex flex-wrap gap-2">
          <Button disabled={acknowledged !== null} onClick={() => onWord({ kind: 'ack' })}>
            <Check aria-hidden="true" className="size-3.5" />
            Acknowledge <Key>e</Key>
          </Button>
          <SnoozeMenu
            open={opened === 'snooze'}
            onOpenChange={(isOpen) => onOpened(isOpen ? 'snooze' : null)}
            onSnooze={(choice) => onWord({ kind: 'snooze', for: choice.for, until: choice.until })}
          >
            <Button>
              <Clock aria-hidden="true" className="size-3.5" />
              Snooze <Key>s</Key>
            </Button>
          </SnoozeMenu>
          <HandOver
            item={item}
            open={opened === 'hand-over'}
            onOpenChange={(isOpen) => onOpened(isOpen ? 'hand-over' : null)}
            onHandOver={(to, note) => onWord({ kind: 'hand-over', to, note })}
          >
            <Button>
              <UserRoundPen aria-hidden="true" className="size-3.5" />
              Hand over <Key>h</Key>
            </Button>
          </HandOver>
          <Button
            onClick={() => onWord({ kind: 'resolve' })}
            title="It comes back when its cause comes up anew"
          >
            <CheckCheck aria-hidden="true" className="size-3.5" />
            Resolve <Key>r</Key>
          </Button>
        </div>
      )}
      <Mend item={item} isPast={isPast} />
      <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-6 gap-y-2 text-small">
        {ticket !== null && (
          <Fact name="Ticket">
            <Link
              to="/tickets/$ticket"
              params={{ ticket }}
              search={{ run: orchestrator ?? undefined }}
              className={link}
            >
              {ticket}
            </Link>
            <TicketTitle ticket={ticket} />
          </Fact>
        )}
        {orchestrator !== null && (
          <Fact name="Run">
            <Link to="/runs/$run" params={{ run: orchestrator }} className={link}>
              {orchestrator}
            </Link>
          </Fact>
        )}
        {item.feed !== null && <Fact name="Feed">{item.feed}</Fact>}
        <Fact name="Open for">
          <Age at={item.openedAt} />
          {item.times > 1 && `, raised ${item.times} times`}
        </Fact>
        <Fact name="Evidence">
          <span className="flex flex-wrap gap-2">
            {item.evidence.length === 0
              ? 'none'
              : item.evidence.toReversed().map((seq) => <EventLink key={seq} seq={seq} />)}
          </span>
        </Fact>
        {item.reportedBy === 'helper' && <Fact name="Reported by">a helper, which svc has not checked</Fact>}
        {acknowledged !== null && (
          <Fact name="Acknowledged">
            by {acknowledged.by}, <Age at={acknowledged.at} /> ago
          </Fact>
        )}
        {handedOver !== null && (
          <Fact name="Handed over">
            to {handedOver.to} by {handedOver.by}, <Age at={handedOver.at} /> ago
            {handedOver.note !== null && (
              <OutsideText className="mt-1 block text-muted">{handedOver.note}</OutsideText>
            )}
          </Fact>
        )}
        {isAsleep && <Fact name="Asleep until">{clockWords(Date.parse(snoozedUntil), now)}</Fact>}
      </dl>
    </article>
  );
}

/** The remedy to copy, and to run where the daemon can. */
function Mend({ item, isPast }: { item: AttentionItem; isPast: boolean }) {
  const { runs } = useLiveBoard();
  const isConducted = (runs.get(item.orchestrator ?? '')?.plan ?? null) !== null;
  const actions = isPast ? [] : actionsOf(item, { isConducted });
  if (item.remedy === null && actions.length === 0) return null;
  return (
    <section aria-label="What mends it" className="flex flex-col gap-2 rounded-control bg-sunken p-3">
      <h3 className="text-small">What mends it</h3>
      <Remedy text={item.remedy} />
      {actions.length > 0 && (
        <div className="flex flex-wrap gap-2">
          {actions.map(({ label, what, command, post }) => (
            <Confirm
              key={command}
              trigger={label}
              title={label}
              label={label}
              onConfirm={() => postJson(post.url, { ...post.body, ...(takesName(post.url) && speaker()) })}
            >
              <p>{what}</p>
              <p className="text-small text-muted">
                The same as <code className="text-tiny">{command}</code>
              </p>
            </Confirm>
          ))}
        </div>
      )}
    </section>
  );
}

/** The outbox asks for no name. */
function takesName(url: string): boolean {
  return !url.startsWith('/api/outbox/');
}

function TicketTitle({ ticket }: { ticket: string }) {
  const { tickets } = useLiveBoard();
  return <OutsideText className="ml-2 text-muted">{tickets.get(ticket)?.title}</OutsideText>;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 text-text">{children}</dd>
    </>
  );
}

const link =
  'font-medium text-ink underline decoration-line-strong underline-offset-2 hover:decoration-current';

function Key({ children }: { children: string }) {
  return (
    <kbd aria-hidden="true" className="rounded-sm bg-sunken px-1 text-tiny text-muted max-wide:hidden">
      {children}
    </kbd>
  );
}
