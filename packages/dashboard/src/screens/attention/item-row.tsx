// An item in the list: ticket, reason, age.

import { Link } from '@tanstack/react-router';
import { agentLabel } from 'svc-monitor/src/features/agents/agent-label.ts';
import type { AttentionItem } from 'svc-monitor/src/features/attention/entity.ts';
import { reasonWords } from 'svc-monitor/src/features/attention/reason-words.ts';
import type { BoardCard, WaitingThing } from 'svc-monitor/src/features/board/board-columns.ts';
import { cardLabel } from 'svc-monitor/src/features/board/card-label.ts';
import { useNow } from '../../live/live.tsx';
import { Age } from '../../parts/age.tsx';
import { classNames } from '../../parts/class-names.ts';
import { clockFromNow, clockWords } from '../../parts/format.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { OwnerLine, useOwner } from '../../shell/team.tsx';

/** `machine`: another machine of the team published it. `isForMe`: it was handed over to this person. */
export type Item = AttentionItem & { machine?: string; isForMe?: boolean };

export function ItemRow({
  item,
  isSelected,
  isPending,
  onSelect,
}: {
  item: Item;
  isSelected: boolean;
  isPending: boolean;
  onSelect: () => void;
}) {
  return (
    <button
      type="button"
      data-item={item.id}
      aria-current={isSelected ? 'true' : undefined}
      onClick={onSelect}
      className={classNames(
        'flex w-full flex-col gap-0.5 border-l-3 px-4 py-2.5 text-left text-small -outline-offset-2',
        isSelected ? 'border-l-you-mark bg-sunken' : 'border-l-transparent hover:bg-sunken',
        isPending && 'opacity-60',
      )}
    >
      <span className="flex items-baseline gap-2">
        <OutsideText className="shrink-0 font-semibold text-ink">{nameOf(item)}</OutsideText>
        <span className="min-w-0 truncate text-text">{reasonWords(item.reason)}</span>
        <span className="ml-auto flex shrink-0 items-baseline gap-2 text-tiny text-muted">
          {item.times > 1 && <span title="Times raised">{item.times} times</span>}
          <Age at={item.openedAt} />
        </span>
      </span>
      <OutsideText className="line-clamp-1 text-tiny text-muted">{item.message}</OutsideText>
      <OwnerLine owner={useOwner(item.machine)} />
      <Handled {...item} />
      {isPending && <span className="text-tiny text-muted">Saving</span>}
    </button>
  );
}

/** What needs a person although no item of it waits: none was raised, somebody has it, or it is snoozed. */
export function ThingRow({
  card,
  session,
  at,
}: Pick<WaitingThing, 'card' | 'session'> & { at: string | null }) {
  const name = card?.worker?.ticket ?? card?.pullRequest?.ticket ?? session?.agent ?? 'svc';
  const machine = card?.worker?.machine ?? session?.machine;
  const owner = useOwner(machine);
  const [item] = card?.attention ?? [];
  const since = card?.since ?? session?.since;
  const snoozedUntil = card?.kind === 'worker' ? card.snoozedUntil : null;
  const words =
    card === null ? agentLabel({ state: session?.state ?? null }, clockFromNow).words : wordsOf(card);
  const classes =
    'flex w-full flex-col gap-0.5 border-l-3 border-l-transparent px-4 py-2.5 text-small hover:bg-sunken -outline-offset-2';
  const text = (
    <>
      <span className="flex items-baseline gap-2">
        <OutsideText className="shrink-0 font-semibold text-ink">{name}</OutsideText>
        <span className="min-w-0 truncate text-text">{words}</span>
        <span className="ml-auto shrink-0 text-tiny text-muted">
          {since !== undefined && <Age at={since} />}
        </span>
      </span>
      <OwnerLine owner={owner} />
      <Handled {...(item ?? { acknowledged: null, handedOver: null, snoozedUntil })} />
    </>
  );
  if (card === null)
    return (
      <Link to="/" search={{ at: at ?? undefined }} className={classes}>
        {text}
      </Link>
    );
  const search = { run: card.worker?.orchestrator, machine, at: at ?? undefined };
  return (
    <Link to="/tickets/$ticket" params={{ ticket: name }} search={search} className={classes}>
      {text}
    </Link>
  );
}

function wordsOf(card: BoardCard): string {
  const [reason] = card.worker?.needs ?? [];
  return reason === undefined ? cardLabel(card, true).words : reasonWords(reason);
}

/** Who has it, or until when it is snoozed. */
function Handled({
  acknowledged,
  handedOver,
  isForMe,
  snoozedUntil,
}: Pick<Item, 'acknowledged' | 'handedOver' | 'isForMe' | 'snoozedUntil'>) {
  const now = useNow();
  const parts = [
    acknowledged !== null && `acknowledged by ${acknowledged.by}`,
    handedOver !== null && `handed over ${isForMe === true ? `by ${handedOver.by}` : `to ${handedOver.to}`}`,
    snoozedUntil !== null &&
      Date.parse(snoozedUntil) > now &&
      `snoozed until ${clockWords(Date.parse(snoozedUntil), now)}`,
  ].filter((part) => part !== false);
  return parts.length > 0 && <span className="text-tiny text-muted">{parts.join(', ')}</span>;
}

export function nameOf({
  ticket,
  feed,
  session,
}: Pick<AttentionItem, 'ticket' | 'feed' | 'session'>): string {
  return ticket ?? session?.split('/')[0] ?? (feed === null ? 'svc' : `${feed} feed`);
}
