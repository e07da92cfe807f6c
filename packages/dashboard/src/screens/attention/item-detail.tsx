// One attention item in full, with its actions.

import { Link } from '@tanstack/react-router';
import { Check, CheckCheck, Clock, UserRoundPen } from 'lucide-react';
import { Dialog, DropdownMenu } from 'radix-ui';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { AttentionItem } from 'svc-monitor/src/features/attention/entity.ts';
import { reasonWords } from 'svc-monitor/src/features/attention/reason-words.ts';
import { remedyOnMachine } from 'svc-monitor/src/kernel/check/remedy-command.ts';
import type { LiveBoard } from '../../live/board-store.ts';
import { useLiveBoard, useNow, useTeam } from '../../live/live.tsx';
import { Age } from '../../parts/age.tsx';
import { shownText } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { EventLink } from '../../parts/event-link.tsx';
import { clockWords } from '../../parts/format.ts';
import { Key } from '../../parts/key.tsx';
import { OutsideText } from '../../parts/outside.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { useOwner } from '../../shell/team.tsx';
import { ItemPacket, isAnsweredHere } from './item-packet.tsx';
import { type Item, nameOf } from './item-row.tsx';
import { actionsOf } from './remedy-action.ts';
import type { ItemAction } from './use-item-actions.ts';
import { actor } from './your-name.ts';

export type SnoozeChoice = { label: string; until: number; for: string };

const MINUTE = 60_000;
const MORNING = 9;

/** Tomorrow is in the viewer's time zone, also when the clock changes at night. */
export function snoozeChoices(now: number): SnoozeChoice[] {
  const morning = new Date(now);
  morning.setDate(morning.getDate() + 1);
  morning.setHours(MORNING, 0, 0, 0);
  const minutes = Math.max(1, Math.ceil((morning.getTime() - now) / MINUTE));
  return [
    { label: '30 minutes', until: now + 30 * MINUTE, for: '30m' },
    { label: '2 hours', until: now + 120 * MINUTE, for: '2h' },
    {
      label: `Tomorrow, ${clockWords(morning.getTime(), morning.getTime())}`,
      until: morning.getTime(),
      for: `${minutes}m`,
    },
  ];
}

function SnoozeMenu({
  open,
  onOpenChange,
  onSnooze,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onSnooze: (choice: SnoozeChoice) => void;
  children: ReactNode;
}) {
  return (
    <DropdownMenu.Root open={open} onOpenChange={onOpenChange}>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="start"
          sideOffset={4}
          collisionPadding={12}
          className="z-50 min-w-48 rounded-card border border-line bg-raised p-1 shadow-float"
        >
          <DropdownMenu.Label className="px-2 py-1 text-tiny text-muted">Snooze for</DropdownMenu.Label>
          {open &&
            snoozeChoices(Date.now()).map((choice) => (
              <DropdownMenu.Item
                key={choice.label}
                onSelect={() => onSnooze(choice)}
                className="flex h-8 cursor-default items-center rounded-control px-2 text-small text-ink outline-none data-[highlighted]:bg-sunken max-wide:h-11"
              >
                {choice.label}
              </DropdownMenu.Item>
            ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

const field =
  'w-full rounded-control border border-line bg-surface px-2.5 py-1.5 text-small text-text placeholder:text-muted hover:border-line-strong';

/** Asks for a name and a note; in a team it must be one of the other persons. */
function HandOver({
  item,
  open,
  onOpenChange,
  onHandOver,
  children,
}: {
  item: AttentionItem;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onHandOver: (to: string, note: string) => void;
  children: ReactNode;
}) {
  const [to, setTo] = useState('');
  const team = useTeam();
  const persons = new Set(team?.members.map(({ person }) => person));
  persons.delete(team?.person ?? '');
  const [note, setNote] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (to.trim() === '') return;
    onOpenChange(false);
    onHandOver(to.trim(), note.trim());
    setTo('');
    setNote('');
  };
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Trigger asChild>{children}</Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-sunken opacity-80" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 w-[min(28rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 rounded-card border border-line bg-raised p-5 shadow-float outline-none"
        >
          <form onSubmit={submit} className="flex flex-col gap-3">
            <Dialog.Title className="text-lead">Hand over {nameOf(item)}</Dialog.Title>
            <label className="flex flex-col gap-1 text-small text-muted">
              To
              {team === null ? (
                <input
                  required
                  maxLength={100}
                  value={to}
                  onChange={(event) => setTo(event.target.value)}
                  autoComplete="off"
                  className={field}
                />
              ) : (
                <select required value={to} onChange={(event) => setTo(event.target.value)} className={field}>
                  <option value="">Choose a person of the team</option>
                  {[...persons].toSorted().map((person) => (
                    <option key={person} value={person}>
                      {shownText(person)}
                    </option>
                  ))}
                </select>
              )}
            </label>
            <label className="flex flex-col gap-1 text-small text-muted">
              Note (optional)
              <textarea
                rows={3}
                maxLength={1_000}
                value={note}
                onChange={(event) => setNote(event.target.value)}
                className={field}
              />
            </label>
            <p className="text-tiny text-muted">
              {team === null
                ? 'This is recorded in the log. svc does not notify the person.'
                : 'The person finds it in the own list.'}
            </p>
            <div className="flex justify-end gap-2">
              <Dialog.Close asChild>
                <Button quiet>Cancel</Button>
              </Dialog.Close>
              <Button type="submit" loud>
                Hand over
              </Button>
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

export type Opened = 'snooze' | 'hand-over' | null;

export function ItemDetail({
  item,
  onAction,
  opened,
  onOpened,
  board,
  isPast,
  disabledBecause,
  isStanding,
}: {
  item: Item;
  onAction: (action: ItemAction) => void;
  /** Which of the two dialogs is open; a key may open it. */
  opened: Opened;
  onOpened: (opened: Opened) => void;
  board: LiveBoard;
  /** A past time is viewed. */
  isPast: boolean;
  disabledBecause: string | null;
  /** Its cause still exists: it cannot be resolved. */
  isStanding: boolean;
}) {
  const now = useNow();
  const isReadOnly = disabledBecause !== null;
  const isAnswered = !isPast && isAnsweredHere(item, board);
  const { ticket, orchestrator, machine, acknowledged, handedOver, snoozedUntil } = item;
  const owner = useOwner(machine);
  const isElsewhere = machine !== undefined;
  const handOver = (
    <HandOver
      item={item}
      open={opened === 'hand-over'}
      onOpenChange={(isOpen) => onOpened(isOpen ? 'hand-over' : null)}
      onHandOver={(to, note) => onAction({ kind: 'hand-over', to, note })}
    >
      <Button>
        <UserRoundPen aria-hidden="true" className="size-3.5" />
        Hand over <Key>h</Key>
      </Button>
    </HandOver>
  );
  const isSnoozed = snoozedUntil !== null && Date.parse(snoozedUntil) > now;
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
        {/* The request below has the same text, whole. */}
        {!isAnswered && <OutsideText className="text-body text-text">{item.message}</OutsideText>}
      </header>
      <ItemPacket item={item} board={board} isPast={isPast} disabledBecause={disabledBecause} />
      {!isAnswered && (
        <Fix item={item} isReadOnly={isReadOnly || isElsewhere} from={isElsewhere ? owner : null} />
      )}
      {!isReadOnly && isElsewhere && <div className="flex">{handOver}</div>}
      {!isReadOnly && !isElsewhere && (
        <div className="flex flex-wrap gap-2">
          <Button disabled={acknowledged !== null} onClick={() => onAction({ kind: 'ack' })}>
            <Check aria-hidden="true" className="size-3.5" />
            Acknowledge <Key>e</Key>
          </Button>
          <SnoozeMenu
            open={opened === 'snooze'}
            onOpenChange={(isOpen) => onOpened(isOpen ? 'snooze' : null)}
            onSnooze={(choice) => onAction({ kind: 'snooze', for: choice.for, until: choice.until })}
          >
            <Button>
              <Clock aria-hidden="true" className="size-3.5" />
              Snooze <Key>s</Key>
            </Button>
          </SnoozeMenu>
          {handOver}
          <Button
            aria-disabled={isStanding}
            onClick={() => onAction({ kind: 'resolve' })}
            title={
              isStanding ? 'Its cause still exists: snooze it instead' : 'Reopens if the cause occurs again'
            }
            className={isStanding ? 'cursor-not-allowed opacity-50' : undefined}
          >
            <CheckCheck aria-hidden="true" className="size-3.5" />
            Resolve <Key>r</Key>
          </Button>
        </div>
      )}
      {!isReadOnly && !isElsewhere && isStanding && (
        <p className="text-small text-muted">
          It is resolved by itself when its cause is gone. Until then you can snooze it.
        </p>
      )}
      {isElsewhere && owner !== null && (
        <p className="text-small text-muted">
          It is on {owner.machine}, where {owner.person} can act on it. You can hand it over to somebody.
          Texts of agents are not shared.
        </p>
      )}
      <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-6 gap-y-2 text-small">
        {ticket !== null && (
          <Fact name="Ticket">
            <Link
              to="/tickets/$ticket"
              params={{ ticket }}
              search={{ run: orchestrator ?? undefined, machine }}
              className={link}
            >
              {ticket}
            </Link>
            <TicketTitle ticket={ticket} />
          </Fact>
        )}
        {orchestrator !== null && (
          <Fact name="Run">
            {isElsewhere ? (
              <OutsideText>{orchestrator}</OutsideText>
            ) : (
              <Link to="/runs/$run" params={{ run: orchestrator }} className={link}>
                {orchestrator}
              </Link>
            )}
          </Fact>
        )}
        {owner !== null && (
          <Fact name="Machine">
            {owner.machine} of {owner.person}
          </Fact>
        )}
        {item.feed !== null && <Fact name="Feed">{item.feed}</Fact>}
        <Fact name="Open for">
          <Age at={item.openedAt} />
          {item.times > 1 && `, raised ${item.times} times`}
        </Fact>
        <Fact name="Evidence">
          <span className="flex flex-wrap gap-2">
            {isElsewhere
              ? 'in the log of that machine'
              : item.evidence.length === 0
                ? 'none'
                : item.evidence.toReversed().map((seq) => <EventLink key={seq} seq={seq} />)}
          </span>
        </Fact>
        {item.reportedBy === 'helper' && <Fact name="Reported by">a helper; not verified by svc</Fact>}
        {acknowledged !== null && (
          <Fact name="Acknowledged">
            by {acknowledged.by}, <Age at={acknowledged.at} /> ago
          </Fact>
        )}
        {handedOver !== null && (
          <Fact name="Handed over">
            to {handedOver.to} by {handedOver.by}, <Age at={handedOver.at} /> ago
            {handedOver.pending === true && '; no machine of that person has it yet'}
            {handedOver.note !== null && (
              <OutsideText className="mt-1 block text-muted">{handedOver.note}</OutsideText>
            )}
          </Fact>
        )}
        {isSnoozed && <Fact name="Snoozed until">{clockWords(Date.parse(snoozedUntil), now)}</Fact>}
      </dl>
    </article>
  );
}

/** The command that fixes it, to copy, and to run where the daemon can. */
function Fix({
  item,
  isReadOnly,
  from,
}: {
  item: AttentionItem;
  isReadOnly: boolean;
  /** Another machine of the team, which suggests it. */
  from: { machine: string; person: string } | null;
}) {
  const { runs } = useLiveBoard();
  const isManaged = (runs.get(item.orchestrator ?? '')?.plan ?? null) !== null;
  const actions = isReadOnly ? [] : actionsOf(item, { isManaged });
  if (item.remedy === null && actions.length === 0) return null;
  const suggested = from === null || item.remedy === null ? null : remedyOnMachine(item.remedy, from.machine);
  const title =
    from === null
      ? 'How to fix it'
      : `${from.machine} (${from.person}) suggests; not checked here${suggested?.there === true ? '; run it on that machine' : ''}`;
  return (
    <section aria-label={title} className="flex flex-col gap-2 rounded-control bg-sunken p-3">
      <h3 className="text-small">
        <OutsideText>{title}</OutsideText>
      </h3>
      <Remedy text={suggested?.text ?? item.remedy} />
      {actions.length > 0 && (
        <div className="flex flex-wrap gap-2">
          {actions.map(({ label, what, command, send }) => (
            <Confirm
              key={command}
              trigger={label}
              title={label}
              label={label}
              onConfirm={() => send(actor())}
            >
              <p>{what}</p>
              <p className="text-small text-muted">
                Same as <code className="text-tiny">{command}</code>
              </p>
            </Confirm>
          ))}
        </div>
      )}
    </section>
  );
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
