// The conversation with an agent, like a review: prompts, messages, tool calls with their diffs and output, requests and
// the ends of turns. Only the visible rows are rendered. It stays at the end while the reader is there.
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  ArrowDown,
  ArrowRightLeft,
  Brain,
  Check,
  ChevronRight,
  CircleDot,
  CircleSlash,
  CircleX,
  Clock,
  FileText,
  Globe,
  Image,
  type LucideIcon,
  MessageSquare,
  Pencil,
  Search,
  SquareTerminal,
  Trash2,
  Wrench,
} from 'lucide-react';
import {
  memo,
  type ReactNode,
  type RefObject,
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { imageWords } from 'svc-monitor/src/features/agents/images.ts';
import { toolStatusWords } from 'svc-monitor/src/features/agents/item-words.ts';
import type { ConversationItem } from 'svc-monitor/src/features/agents/schemas.ts';
import type { Meaning } from 'svc-monitor/src/kernel/board/label.ts';
import { AgentText, CodeBlock, shownText, useShortened } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { DiffBox, DiffCounts } from '../../parts/diff-box.tsx';
import { textOf } from '../../parts/meaning.ts';
import { RequestRow, TurnRow } from './conversation-rows.tsx';

export type ToolItem = Extract<ConversationItem, { kind: 'tool' }>;
type ItemOf<Kind extends ConversationItem['kind']> = Extract<ConversationItem, { kind: Kind }>;

/** The distance from the end, in pixels, that still counts as being there. */
const NEAR_END = 32;

export function Conversation({
  items,
  earlier,
  journal,
}: {
  items: readonly ConversationItem[];
  earlier: number;
  journal: string | null;
}) {
  // The plan has its own place above the conversation.
  const rows = useMemo(() => items.filter(({ kind }) => kind !== 'plan'), [items]);
  const running = useMemo(() => rows.findLast(isRunning)?.id, [rows]);
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const toggle = useCallback(
    (id: string, isOpen: boolean) => setToggled((before) => new Map(before).set(id, isOpen)),
    [],
  );
  const frame = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => estimate(rows[index]),
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 6,
    paddingStart: 8,
    paddingEnd: 12,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: NEAR_END,
  });
  const size = virtual.getTotalSize();
  const rev = rows.at(-1)?.rev ?? 0;
  const { stays, handlers } = useStay(frame);
  // After every render: items arrive, are measured late, or the frame itself changes its height.
  useLayoutEffect(() => {
    if (stays.current && distanceFromEnd(frame.current) > 1) virtual.scrollToEnd();
  });
  const isAtEnd = stays.current || virtual.isAtEnd();
  const unseen = useUnseen(isAtEnd, rev, rows.length);
  const toEnd = (): void => {
    stays.current = true;
    virtual.scrollToEnd();
  };
  return (
    <div className="relative">
      {earlier > 0 && (
        <p className="border-line border-b px-4 py-2 text-small text-muted">
          {earlier} earlier {earlier === 1 ? 'item is' : 'items are'} not shown.
          {journal !== null && (
            <>
              {' '}
              Everything is in <code className="from-outside text-tiny">{shownText(journal)}</code>
            </>
          )}
        </p>
      )}
      <div
        ref={frame}
        role="log"
        aria-label="Conversation with the agent"
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reachable by keyboard.
        tabIndex={0}
        {...handlers}
        className="overflow-y-auto -outline-offset-2"
        style={{ height: size, maxHeight: 'max(22rem, 62dvh)', overflowAnchor: 'none' }}
      >
        <div className="relative w-full" style={{ height: size }}>
          {virtual.getVirtualItems().map(({ key, index, start }) => {
            const item = rows[index];
            return (
              item && (
                <div
                  key={key}
                  data-index={index}
                  ref={virtual.measureElement}
                  className="absolute inset-x-0 top-0 px-4 py-1.5 max-wide:px-3"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <Row item={item} isOpen={toggled.get(item.id) ?? item.id === running} toggle={toggle} />
                </div>
              )
            );
          })}
        </div>
      </div>
      {!isAtEnd && (
        <Button
          onClick={toEnd}
          className="absolute right-4 bottom-3 rounded-full border-line-strong shadow-float"
        >
          <ArrowDown aria-hidden="true" className="size-3.5" />
          {unseen > 0 ? `${unseen} new` : 'To the end'}
        </Button>
      )}
    </div>
  );
}

function distanceFromEnd(element: HTMLElement | null): number {
  return element === null ? 0 : element.scrollHeight - element.scrollTop - element.clientHeight;
}

/** How long after the reader's action a scroll counts as theirs: measured rows move the frame too. */
const BY_READER_MS = 1_000;
/** Dragging the scroll bar sends one event when it begins. */
const DRAG_MS = 10_000;

/** Whether the conversation stays at its end: until the reader leaves it, and again when they return. */
function useStay(frame: RefObject<HTMLDivElement | null>) {
  const stays = useRef(true);
  const readerUntil = useRef(0);
  const byReader = (milliseconds: number) => (): void => {
    readerUntil.current = performance.now() + milliseconds;
  };
  const handlers = {
    onWheel: byReader(BY_READER_MS),
    onKeyDown: byReader(BY_READER_MS),
    onTouchMove: byReader(BY_READER_MS),
    onPointerDown: byReader(DRAG_MS),
    onScroll: (): void => {
      if (performance.now() < readerUntil.current) stays.current = distanceFromEnd(frame.current) < NEAR_END;
    },
  };
  return { stays, handlers };
}

/** How many items came while the reader was elsewhere; a change of a known item counts as one. */
function useUnseen(isAtEnd: boolean, rev: number, count: number): number {
  const seen = useRef({ rev, count });
  if (isAtEnd) seen.current = { rev, count };
  return Math.max(count - seen.current.count, rev > seen.current.rev ? 1 : 0);
}

function isRunning(item: ConversationItem): boolean {
  return item.kind === 'tool' && (item.status === 'in_progress' || item.status === 'pending');
}

/** Close enough that the scroll bar does not jump. */
function estimate(item: ConversationItem | undefined): number {
  if ((item?.kind === 'prompt' && item.by !== 'svc') || item?.kind === 'message')
    return 44 + 22 * Math.min(60, Math.ceil(item.text.length / 110));
  return item?.kind === 'tool' && (item.paths.length > 0 || item.command !== null) ? 66 : 46;
}

type Toggle = (id: string, isOpen: boolean) => void;

const Row = memo(function Row({
  item,
  isOpen,
  toggle,
}: {
  item: ConversationItem;
  isOpen: boolean;
  toggle: Toggle;
}) {
  switch (item.kind) {
    case 'prompt':
      return <Prompt item={item} isOpen={isOpen} toggle={toggle} />;
    case 'message':
      return (
        <article aria-label="Message of the agent" className="max-w-4xl py-0.5">
          <AgentText text={item.text} />
          {item.cut && <Shortened />}
        </article>
      );
    case 'thought':
      return <Thought item={item} isOpen={isOpen} toggle={toggle} />;
    case 'tool':
      return <Tool item={item} isOpen={isOpen} toggle={toggle} />;
    case 'request':
      return <RequestRow item={item} />;
    case 'turn':
      return <TurnRow item={item} />;
    case 'plan':
      return null;
  }
});

function Shortened() {
  return <p className="pt-1 text-tiny text-muted">Shortened. The journal has everything.</p>;
}

/** What svc wrote is folded: it is long, and the same for every ticket. */
function Prompt({ item, isOpen, toggle }: { item: ItemOf<'prompt'>; isOpen: boolean; toggle: Toggle }) {
  const { id, text, by, images = [] } = item;
  const isOurs = by === 'svc';
  const from = (
    <span className="flex items-center gap-1.5 text-tiny text-muted">
      <MessageSquare aria-hidden="true" className="size-3.5" />
      {by === null ? (
        'Prompt, sender unknown'
      ) : (
        <span className="from-outside">Prompt from {shownText(by)}</span>
      )}
    </span>
  );
  return (
    <article aria-label="Prompt" className="rounded-card border border-line bg-ground px-3 py-2">
      {isOurs ? (
        <Fold id={id} isOpen={isOpen} toggle={toggle}>
          {from}
        </Fold>
      ) : (
        <div className="mb-1">{from}</div>
      )}
      {(!isOurs || isOpen) && <AgentText text={text} className="max-w-4xl" />}
      {images.length > 0 && (
        <ul aria-label="Images" className="mt-1 flex flex-col gap-0.5 text-small text-muted">
          {images.map((image, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same image can be attached twice.
            <li key={index} className="flex min-w-0 items-center gap-1.5">
              <Image aria-hidden="true" className="size-3.5 shrink-0" />
              <span className="from-outside min-w-0 truncate">{shownText(imageWords(image))}</span>
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

function Fold({
  id,
  isOpen,
  toggle,
  className,
  children,
}: {
  id: string;
  isOpen: boolean;
  toggle: Toggle;
  className?: string;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={() => toggle(id, !isOpen)}
      className={classNames('flex w-full min-w-0 items-start gap-2 text-left text-small', className)}
    >
      <ChevronRight
        aria-hidden="true"
        className={classNames(
          'mt-0.5 size-4 shrink-0 text-muted transition-transform',
          isOpen && 'rotate-90',
        )}
      />
      {children}
    </button>
  );
}

function Thought({
  item,
  isOpen,
  toggle,
}: {
  item: ItemOf<'message' | 'thought'>;
  isOpen: boolean;
  toggle: Toggle;
}) {
  const first = item.text.slice(0, 300).trim();
  return (
    <div className="text-muted">
      <Fold id={item.id} isOpen={isOpen} toggle={toggle}>
        <Brain aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
        <span className="shrink-0">Thought</span>
        {!isOpen && (
          <span className="from-outside min-w-0 truncate">{shownText(first).replaceAll(/\s+/g, ' ')}</span>
        )}
      </Fold>
      {isOpen && <AgentText text={item.text} className="mt-1 ml-2 max-w-4xl border-line border-l-2 pl-4" />}
      {isOpen && item.cut && <Shortened />}
    </div>
  );
}

const toolIcons: Readonly<Record<string, LucideIcon>> = {
  read: FileText,
  edit: Pencil,
  delete: Trash2,
  move: ArrowRightLeft,
  search: Search,
  execute: SquareTerminal,
  think: Brain,
  fetch: Globe,
};

export function ToolIcon({ kind }: { kind: string | null }) {
  const Icon = (kind !== null && Object.hasOwn(toolIcons, kind) && toolIcons[kind]) || Wrench;
  return <Icon aria-hidden="true" className="mt-0.5 size-4 shrink-0" />;
}

const statuses: Record<ToolItem['status'], { icon: LucideIcon; meaning: Meaning | null }> = {
  pending: { icon: Clock, meaning: null },
  in_progress: { icon: CircleDot, meaning: 'motion' },
  completed: { icon: Check, meaning: null },
  failed: { icon: CircleX, meaning: 'broken' },
  'cut-off': { icon: CircleSlash, meaning: 'unknown' },
};

function Tool({ item, isOpen, toggle }: { item: ToolItem; isOpen: boolean; toggle: Toggle }) {
  const { icon: Icon, meaning } = statuses[item.status];
  const words = toolStatusWords[item.status];
  const { title, paths, command, exitCode, diffs } = item;
  const where = paths.filter((path) => !title.includes(path));
  return (
    <article
      aria-label="Tool call"
      className={classNames(
        'rounded-card border bg-surface',
        item.status === 'failed' ? 'border-broken-mark' : 'border-line',
      )}
    >
      <Fold id={item.id} isOpen={isOpen} toggle={toggle} className="rounded-card px-3 py-2 hover:bg-sunken">
        <span className="text-muted">
          <ToolIcon kind={item.toolKind} />
        </span>
        <span className="flex min-w-0 flex-1 flex-col">
          <span className="from-outside line-clamp-2 text-ink">{shownText(title.slice(0, 400))}</span>
          {(where.length > 0 || (command !== null && !title.includes(command))) && (
            <span className="from-outside truncate font-mono text-tiny text-muted">
              {shownText(
                [command !== null && !title.includes(command) ? command : null, ...where]
                  .filter((part) => part !== null)
                  .join('  ')
                  .slice(0, 300),
              ).replaceAll('\n', ' ')}
            </span>
          )}
        </span>
        <DiffCounts diffs={diffs} />
        <span
          className={classNames(
            'mt-0.5 flex shrink-0 items-center gap-1 text-tiny',
            meaning === null ? 'text-muted' : textOf[meaning],
          )}
        >
          <Icon aria-hidden="true" className="size-3.5" />
          {exitCode === null ? words : `${words}, exit code ${exitCode}`}
        </span>
      </Fold>
      {isOpen && <ToolContent item={item} />}
    </article>
  );
}

function ToolContent({ item: { command, output, diffs, cut, toolKind } }: { item: ToolItem }) {
  const { shown, more } = useShortened(output, true);
  return (
    <div className="flex flex-col gap-2 border-line border-t px-3 py-2">
      {command !== null && <CodeBlock text={`$ ${shownText(command)}`} />}
      {diffs.map((diff) => (
        <DiffBox key={diff.path} diff={diff} />
      ))}
      {more}
      {output !== '' && <CodeBlock text={shown} />}
      {output === '' && diffs.length === 0 && (
        <p className="text-small text-muted">
          No output{toolKind === 'other' ? '' : ` of this ${shownText(toolKind.slice(0, 40))} tool`} so far.
        </p>
      )}
      {cut && <Shortened />}
    </div>
  );
}
