// The inbox of what needs a person: read with j and k, answered with one key each.
import type { AttentionItem } from '@svc/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { Tabs } from 'radix-ui';
import { useMemo, useRef, useState } from 'react';
import { useBoard, useNow } from '../../live/live.tsx';
import { Button } from '../../parts/button.tsx';
import { useMatchesNarrow } from '../../parts/narrow.ts';
import { ScreenHead } from '../../parts/panel.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { useKeys } from '../../parts/use-keys.ts';
import type { SearchOf } from '../../shell/link-to.ts';
import { inbox, moved, neighbour, type Tab, tabs } from './inbox.ts';
import { ItemDetail, type Opened } from './item-detail.tsx';
import { ItemRow, nameOf } from './item-row.tsx';
import { NothingHere } from './nothing-here.tsx';
import { TabList } from './tab-list.tsx';
import { foreseen, useWords, type Word } from './use-words.ts';
import { YourName } from './your-name-field.tsx';

/** So many are drawn at first: a broken service may raise more than anybody reads. */
const PAGE = 100;

export function AttentionScreen() {
  const { board, moment, loading, failure } = useBoard();
  const search = useSearch({ from: '/attention' });
  const navigate = useNavigate();
  const isNarrow = useMatchesNarrow();
  const words = useWords(board.attention);
  const [opened, setOpened] = useState<Opened>(null);
  const [most, setMost] = useState(PAGE);
  const list = useRef<HTMLUListElement>(null);

  const boxes = useBoxes(board.attention, words.spoken);
  const tab = tabs.find((name) => name === search.tab) ?? tabHolding(boxes, search.id) ?? 'waiting';
  const shown = boxes[tab].slice(0, most);
  const more = boxes[tab].length - shown.length;
  // A narrow page has no place beside the list: there an item is open when it was pressed.
  const selected = shown.find(({ id }) => id === search.id) ?? (isNarrow ? undefined : shown[0]);

  const go = (change: SearchOf<'/attention'>): void =>
    void navigate({ to: '/attention', search: (before) => ({ ...before, ...change }), replace: true });
  const ids = shown.map(({ id }) => id);
  const move = (by: 1 | -1): void => {
    const id = moved(ids, selected?.id, by);
    if (id === undefined) return;
    go({ id });
    // The focus goes with the selection, so that it is read aloud.
    list.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`)?.focus();
  };
  const speak = (item: AttentionItem, word: Word): void => {
    void words.say(item, word);
    go({ tab, id: isNarrow ? undefined : neighbour(ids, item.id) });
  };
  const onSelected = (act: (item: AttentionItem) => void) => (event: KeyboardEvent) => {
    if (selected === undefined || moment !== null) return;
    event.preventDefault();
    act(selected);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    e: onSelected((item) => item.acknowledged === null && speak(item, { kind: 'ack' })),
    r: onSelected((item) => speak(item, { kind: 'resolve' })),
    s: onSelected(() => setOpened('snooze')),
    h: onSelected(() => setOpened('hand-over')),
    Enter: (event) => {
      const isRow = event.target instanceof HTMLElement && event.target.dataset['item'] === selected?.id;
      if (!isRow || isNarrow || selected === undefined || selected.ticket === null) return;
      event.preventDefault();
      const { ticket, orchestrator } = selected;
      void navigate({
        to: '/tickets/$ticket',
        params: { ticket },
        search: { run: orchestrator ?? undefined },
      });
    },
  });

  if (failure !== null) return <Failed error={failure} />;
  if (loading && board.seq === null) return <Loading what="what needs you" lines={5} />;
  const detail = (item: AttentionItem) => (
    <ItemDetail
      key={item.id}
      item={item}
      onWord={(word) => speak(item, word)}
      opened={opened}
      onOpened={setOpened}
      isPast={moment !== null}
    />
  );
  return (
    <Tabs.Root value={tab} onValueChange={(name) => go({ tab: name, id: undefined })}>
      <ScreenHead title="Attention" aside={moment === null && <YourName />} />
      <TabList
        counts={{
          waiting: boxes.waiting.length,
          taken: boxes.taken.length,
          snoozed: boxes.snoozed.length,
        }}
      />
      {words.failure !== null && <Refused {...words.failure} onClose={words.forgetFailure} />}
      <Tabs.Content value={tab} tabIndex={-1} className="outline-none">
        {shown.length === 0 ? (
          <NothingHere tab={tab} />
        ) : (
          <div className="grid items-start gap-4 wide:grid-cols-[minmax(20rem,26rem)_1fr]">
            <ul
              ref={list}
              className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface"
            >
              {shown.map((item) => {
                const isSelected = item.id === selected?.id;
                return (
                  <li key={item.id}>
                    <ItemRow
                      item={item}
                      isSelected={isSelected}
                      isPending={words.spoken.has(item.id)}
                      onSelect={() => go({ id: isNarrow && isSelected ? undefined : item.id })}
                    />
                    {isNarrow && isSelected && <div className="border-line border-t p-4">{detail(item)}</div>}
                  </li>
                );
              })}
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
                aria-label="The selected item"
                className="sticky top-4 rounded-card border border-line bg-surface p-5"
              >
                {detail(selected)}
              </section>
            )}
          </div>
        )}
      </Tabs.Content>
    </Tabs.Root>
  );
}

type Boxes = Record<Tab, AttentionItem[]>;

/** The items as they will be when the log has what was just said. */
function useBoxes(
  attention: ReadonlyMap<string, AttentionItem>,
  spoken: ReturnType<typeof useWords>['spoken'],
): Boxes {
  const now = useNow();
  // A second matters to nobody but to the end of a snooze.
  const tick = Math.floor(now / 5_000) * 5_000;
  return useMemo(() => {
    const items = [...attention.values()].map((item) => {
      const said = spoken.get(item.id);
      return said === undefined ? item : foreseen(item, said.word, said.at);
    });
    return inbox(
      items.filter((item) => item !== null),
      tick + 5_000,
    );
  }, [attention, spoken, tick]);
}

/** A link to an item shows the tab that it is in. */
function tabHolding(boxes: Boxes, id: string | undefined): Tab | undefined {
  return tabs.find((name) => boxes[name].some((item) => item.id === id));
}

function Refused({ item, error, onClose }: { item: AttentionItem; error: Error; onClose: () => void }) {
  return (
    <div className="mb-4 flex items-start gap-2">
      <div className="flex flex-1 flex-col gap-1">
        <p className="text-small text-muted">It was not done; {nameOf(item)} is as it was.</p>
        <Failed error={error} />
      </div>
      <Button quiet aria-label="Close" onClick={onClose}>
        <X aria-hidden="true" className="size-4" />
      </Button>
    </div>
  );
}
