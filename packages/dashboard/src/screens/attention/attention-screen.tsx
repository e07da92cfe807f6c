// The inbox of items that need a person: j and k move, one key per action.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { Tabs } from 'radix-ui';
import { Fragment, useMemo, useRef, useState } from 'react';
import type { AttentionItem } from 'svc-monitor/src/features/attention/entity.ts';
import type { WaitingThing } from 'svc-monitor/src/features/board/board-columns.ts';
import { client } from '../../api/client.ts';
import type { LiveBoard } from '../../live/board-store.ts';
import {
  useBoard,
  useBoardTime,
  useDisabledBecause,
  useLiveBoard,
  useNow,
  useShownItems,
  useView,
} from '../../live/live.tsx';
import type { ItemOfPerson } from '../../live/team-board.ts';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { clockWords } from '../../parts/format.ts';
import { useMatchesNarrow } from '../../parts/narrow.ts';
import { ScreenHead } from '../../parts/panel.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { useKeys } from '../../parts/use-keys.ts';
import type { SearchOf } from '../../shell/link-to.ts';
import { NotifySwitch } from '../../shell/needs-you.tsx';
import { MachineField, NotHeard, ShownInPart, TeamSwitch } from '../../shell/team.tsx';
import { ActionNotice } from './action-notice.tsx';
import { inbox, isStanding, moved, neighbour, type Tab, tabs, waitingFor } from './inbox.ts';
import { ItemDetail, type Opened } from './item-detail.tsx';
import { type Item, ItemRow, nameOf, ThingRow } from './item-row.tsx';
import { type ItemAction, predicted, useItemActions } from './use-item-actions.ts';
import { keepYourName, yourName } from './your-name.ts';

const emptyTexts: Record<Exclude<Tab, 'waiting'>, { title: string; text: string }> = {
  taken: {
    title: 'Nothing acknowledged or handed over.',
    text: 'Items that you acknowledge or hand over stay here until their cause is fixed.',
  },
  snoozed: { title: 'Nothing snoozed.', text: 'Snoozed items appear here until the snooze ends.' },
};

export function NothingHere({ tab }: { tab: Tab }) {
  if (tab === 'waiting') return <NothingWaits />;
  return (
    <Empty title={emptyTexts[tab].title}>
      <p>{emptyTexts[tab].text}</p>
    </Empty>
  );
}

/** The time of the last change to any item: that is when the last waiting item was handled. */
function NothingWaits() {
  const now = useNow();
  const { attention } = useLiveBoard();
  const { data } = useQuery({
    queryKey: ['attention-quiet', attention],
    queryFn: ({ signal }) =>
      client.get('/api/events', { query: { event: 'comms.attention_*', limit: 1 }, signal }),
  });
  const last = data?.events[0]?.ts;
  return (
    <Empty title="Nothing needs you.">
      <p>
        {last === undefined
          ? 'Nothing has been raised on this machine yet.'
          : `All clear since ${clockWords(Date.parse(last), now)}.`}{' '}
        Failures, stalled agents and questions appear here, with the command that fixes them.
      </p>
    </Empty>
  );
}

const names: Record<Tab, { long: string; short: string }> = {
  waiting: { long: 'Waiting for you', short: 'Waiting' },
  taken: { long: 'Acknowledged or handed over', short: 'Acknowledged' },
  snoozed: { long: 'Snoozed', short: 'Snoozed' },
};

export function TabList({ counts }: { counts: Record<Tab, number> }) {
  const isTeam = useView() === 'team';
  const length = useMatchesNarrow() || isTeam ? 'short' : 'long';
  return (
    <Tabs.List aria-label="Attention" className="mb-4 flex gap-1 border-line border-b">
      {tabs.map((tab) => (
        <Tabs.Trigger
          key={tab}
          value={tab}
          className="-mb-px flex h-9 items-center gap-2 border-transparent border-b-2 px-2.5 text-small font-medium whitespace-nowrap text-muted -outline-offset-2 hover:text-ink data-[state=active]:border-ink data-[state=active]:text-ink max-wide:h-11"
        >
          {names[tab][length]}
          <span
            className={classNames(
              'rounded-full px-1.5 text-tiny',
              tab === 'waiting' && counts[tab] > 0 ? 'bg-you-soft text-you' : 'bg-sunken text-muted',
            )}
          >
            {counts[tab]}
          </span>
        </Tabs.Trigger>
      ))}
    </Tabs.List>
  );
}

export function YourName() {
  const [name, setName] = useState(yourName);
  return (
    <label
      className="flex items-center gap-2 text-small text-muted"
      title="Recorded in the log with each item that you acknowledge, snooze, hand over or resolve. Without a name it is “a person”."
    >
      Your name in the log
      <input
        value={name}
        maxLength={100}
        placeholder="a person"
        autoComplete="off"
        onChange={({ target }) => {
          setName(target.value);
          keepYourName(target.value);
        }}
        className="h-8 w-36 rounded-control border border-line bg-surface px-2 text-small text-text placeholder:text-muted hover:border-line-strong max-wide:h-11"
      />
    </label>
  );
}

/** How many are shown at first: a broken service may raise very many. */
const PAGE = 100;

export function AttentionScreen() {
  const { board, moment, loading, failure } = useBoard();
  const disabledBecause = useDisabledBecause();
  const isTeam = useView() === 'team';
  const search = useSearch({ from: '/attention' });
  const navigate = useNavigate();
  const isNarrow = useMatchesNarrow();
  const attention = useShownItems(board);
  const actions = useItemActions(attention);
  const [opened, setOpened] = useState<Opened>(null);
  /** Resolving it was refused: its cause still exists. */
  const [refused, setRefused] = useState<Item | null>(null);
  const [most, setMost] = useState(PAGE);
  const list = useRef<HTMLUListElement>(null);

  const boxes = useBoxes(board, attention, actions.pending);
  const tab = tabs.find((name) => name === search.tab) ?? tabHolding(boxes, search.id) ?? 'waiting';
  const groups = boxes[tab].slice(0, most);
  const more = boxes[tab].length - groups.length;
  const shown = groups.flatMap((group) => group.items);
  // A narrow page has no space beside the list: there an item opens when it is selected.
  const selected = shown.find(({ id }) => id === search.id) ?? (isNarrow ? undefined : shown[0]);

  const go = (change: SearchOf<'/attention'>): void =>
    void navigate({ to: '/attention', search: (before) => ({ ...before, ...change }), replace: true });
  const ids = shown.map(({ id }) => id);
  const move = (by: 1 | -1): void => {
    const id = moved(ids, selected?.id, by);
    if (id === undefined) return;
    go({ id });
    // The focus follows the selection, so a screen reader reads it.
    list.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`)?.focus();
  };
  const act = (item: Item, action: ItemAction): void => {
    if (action.kind === 'resolve' && isStanding(item, board)) return setRefused(item);
    setRefused(null);
    void actions.send(item, action);
    go({ tab, id: isNarrow ? undefined : neighbour(ids, item.id) });
  };
  const undo = (item: AttentionItem): void => {
    void actions.undo(item);
    go({ tab: undefined, id: item.id });
  };
  const onSelected = (handle: (item: AttentionItem) => void) => (event: KeyboardEvent) => {
    if (selected === undefined || selected.machine !== undefined || disabledBecause !== null) return;
    event.preventDefault();
    handle(selected);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    e: onSelected((item) => item.acknowledged === null && act(item, { kind: 'ack' })),
    r: onSelected((item) => act(item, { kind: 'resolve' })),
    u: (event) => {
      if (actions.done === null || disabledBecause !== null) return;
      event.preventDefault();
      undo(actions.done.item);
    },
    s: onSelected(() => setOpened('snooze')),
    h: onSelected(() => setOpened('hand-over')),
    Enter: (event) => {
      const isRow = event.target instanceof HTMLElement && event.target.dataset['item'] === selected?.id;
      if (!isRow || isNarrow || selected === undefined || selected.ticket === null) return;
      event.preventDefault();
      const { ticket, orchestrator, machine } = selected;
      void navigate({
        to: '/tickets/$ticket',
        params: { ticket },
        search: { run: orchestrator ?? undefined, machine },
      });
    },
  });

  if (failure !== null) return <Failed error={failure} />;
  if (loading && board.seq === null) return <Loading what="the attention items" lines={5} />;
  const detail = (item: Item) => (
    <ItemDetail
      key={item.id}
      item={item}
      onAction={(action) => act(item, action)}
      opened={opened}
      onOpened={setOpened}
      board={board}
      isPast={moment !== null}
      disabledBecause={disabledBecause}
      isStanding={isStanding(item, board)}
    />
  );
  return (
    <Tabs.Root value={tab} onValueChange={(name) => go({ tab: name, id: undefined })}>
      <ScreenHead
        title="Attention"
        aside={
          <>
            <TeamSwitch />
            <MachineField />
            {moment === null && !isTeam && <NotifySwitch />}
            {disabledBecause === null && !isTeam && <YourName />}
          </>
        }
      />
      {moment === null && <NotHeard />}
      <ShownInPart />
      <TabList
        counts={{
          waiting: boxes.waiting.length,
          taken: boxes.taken.length,
          snoozed: boxes.snoozed.length,
        }}
      />
      {actions.failure !== null && <Refused {...actions.failure} onClose={actions.dismissFailure} />}
      <Tabs.Content value={tab} tabIndex={-1} className="outline-none">
        {groups.length === 0 ? (
          <NothingHere tab={tab} />
        ) : (
          <div className="grid items-start gap-4 wide:grid-cols-[minmax(20rem,26rem)_1fr]">
            <ul
              ref={list}
              className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface"
            >
              {groups.map((group) => (
                <li key={group.items[0]?.id ?? group.card?.key ?? group.session?.key}>
                  {group.items.length === 0 && <ThingRow {...group} at={moment} />}
                  {group.items.map((item) => {
                    const isSelected = item.id === selected?.id;
                    return (
                      <Fragment key={item.id}>
                        <ItemRow
                          item={item}
                          isSelected={isSelected}
                          isPending={actions.pending.has(item.id)}
                          onSelect={() => go({ id: isNarrow && isSelected ? undefined : item.id })}
                        />
                        {isNarrow && isSelected && (
                          <div className="border-line border-t p-4">{detail(item)}</div>
                        )}
                      </Fragment>
                    );
                  })}
                </li>
              ))}
              {more > 0 && (
                <li className="p-2">
                  <Button quiet onClick={() => setMost(most + PAGE)}>
                    Show more ({more} left)
                  </Button>
                </li>
              )}
            </ul>
            {!isNarrow && selected !== undefined && (
              <section
                aria-label="Selected item"
                className="sticky top-4 rounded-card border border-line bg-surface p-5"
              >
                {detail(selected)}
              </section>
            )}
          </div>
        )}
      </Tabs.Content>
      <ActionNotice
        done={actions.done}
        refused={refused}
        onUndo={undo}
        onSnooze={(item) => {
          setRefused(null);
          go({ id: item.id });
          setOpened('snooze');
        }}
        onClose={() => {
          setRefused(null);
          actions.dismissDone();
        }}
      />
    </Tabs.Root>
  );
}

type Group = Omit<WaitingThing, 'items'> & { items: Item[] };
type Boxes = Record<Tab, Group[]>;

/** What is in each tab, with the pending actions already applied. */
function useBoxes(
  board: LiveBoard,
  attention: ReadonlyMap<string, ItemOfPerson>,
  pending: ReturnType<typeof useItemActions>['pending'],
): Boxes {
  const time = useBoardTime();
  return useMemo(() => {
    const items = [...attention.values()]
      .map((item) => {
        const one = pending.get(item.id);
        return one === undefined ? item : predicted(item, one.action, one.at);
      })
      .filter((item) => item !== null);
    const { taken, snoozed } = inbox(items, time);
    const alone = (item: Item): Group => ({ card: null, session: null, items: [item] });
    return {
      waiting: waitingFor(board, items, time),
      taken: taken.map(alone),
      snoozed: snoozed.map(alone),
    };
  }, [board, attention, pending, time]);
}

/** A link to an item shows the tab that it is in. */
function tabHolding(boxes: Boxes, id: string | undefined): Tab | undefined {
  return tabs.find((name) => boxes[name].some(({ items }) => items.some((item) => item.id === id)));
}

function Refused({ item, error, onClose }: { item: AttentionItem; error: Error; onClose: () => void }) {
  return (
    <div className="mb-4 flex items-start gap-2">
      <div className="flex flex-1 flex-col gap-1">
        <p className="text-small text-muted">The action failed; {nameOf(item)} is unchanged.</p>
        <Failed error={error} />
      </div>
      <Button quiet aria-label="Close" onClick={onClose}>
        <X aria-hidden="true" className="size-4" />
      </Button>
    </div>
  );
}
