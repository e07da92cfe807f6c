// The events, newest first; only the visible ones are rendered. New events do not move the list while it is scrolled
// down.
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef } from 'react';
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { classNames } from '../../parts/class-names.ts';
import { exactWords } from '../../parts/format.ts';
import { lineGist, viaWords } from '../../parts/line-gist.ts';
import { useMatchesNarrow } from '../../parts/narrow.ts';
import { OutsideText } from '../../parts/outside.tsx';

/** What an event is about: ticket, pull request, commit, environment, and its message or what changed. */
export function subjectOf({ scope, detail, actor }: Pick<EventLine, 'scope' | 'detail' | 'actor'>): string {
  const { ticket, repo, pr, orchestrator, environment, sha, mergeSha } = scope;
  const commit = mergeSha ?? sha;
  const gist = lineGist({ detail });
  // What changed comes first: the end of a row is cut on a narrow page.
  const isChange = detail['to'] !== undefined || gist.startsWith('→');
  const words = [
    ticket,
    isChange ? gist : undefined,
    pr === undefined ? repo : `${repo ?? ''}#${pr}`,
    ticket === undefined ? orchestrator : undefined,
    environment,
    commit?.slice(0, 8),
    isChange ? undefined : gist,
    actor && `by ${actor.login}`,
  ];
  return words.filter((word) => word !== undefined && word !== '').join('  ');
}

export function LineList({
  lines,
  selected,
  select,
  loadOlder,
  hasOlder,
}: {
  lines: readonly EventLine[];
  selected: number | null;
  select: (seq: number) => void;
  loadOlder: () => Promise<void>;
  hasOlder: boolean;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const height = useMatchesNarrow() ? 52 : 32;
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    overscan: 12,
    getItemKey: (index) => lines[index]?.seq ?? index,
  });
  const items = virtual.getVirtualItems();

  // New events are added on top: keep the scroll position, unless it is the top itself.
  const newest = useRef(lines[0]?.seq ?? 0);
  useLayoutEffect(() => {
    const element = frame.current;
    const added = lines.findIndex(({ seq }) => seq <= newest.current);
    newest.current = lines[0]?.seq ?? 0;
    if (element !== null && added > 0 && element.scrollTop > height) element.scrollTop += added * height;
  }, [lines, height]);

  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasOlder && lastShown >= lines.length - 20) void loadOlder();
  }, [hasOlder, lastShown, lines.length, loadOlder]);

  const at = lines.findIndex(({ seq }) => seq === selected);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
    // Only when another event is selected, not when events arrive.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [selected]);

  return (
    <div
      ref={frame}
      role="listbox"
      tabIndex={0}
      aria-label="Events, newest first"
      aria-activedescendant={selected === null ? undefined : `line-${selected}`}
      className="h-[calc(100dvh-19rem)] min-h-72 overflow-y-auto rounded-card border border-line bg-surface font-mono text-tiny"
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }} role="presentation">
        {items.map(({ index, start, key }) => {
          const line = lines[index];
          if (line === undefined) return null;
          return (
            <div
              key={key}
              id={`line-${line.seq}`}
              role="option"
              tabIndex={-1}
              aria-selected={line.seq === selected}
              onClick={() => select(line.seq)}
              onKeyDown={(event) => event.key === 'Enter' && select(line.seq)}
              className={classNames(
                'absolute inset-x-0 flex cursor-pointer items-center gap-x-3 border-line border-b px-3 max-wide:flex-wrap max-wide:content-center',
                line.seq === selected ? 'bg-sunken' : 'hover:bg-sunken',
              )}
              style={{ height, transform: `translateY(${start}px)` }}
            >
              <time
                dateTime={line.ts}
                title={exactWords(Date.parse(line.ts))}
                className="w-16 shrink-0 text-muted"
              >
                {new Date(line.ts).toLocaleTimeString('en-GB')}
              </time>
              <span className="w-14 shrink-0 text-muted max-wide:hidden">{line.seq}</span>
              <span className="min-w-0 truncate text-ink wide:w-56 wide:max-w-[45%] full:w-72 wide:shrink-0">
                {line.event}
              </span>
              <span className="min-w-0 flex-1 truncate text-muted max-wide:basis-full">
                <OutsideText>{subjectOf(line)}</OutsideText>
              </span>
              <span
                title={viaWords(line.via)}
                className="w-12 shrink-0 text-right text-muted max-wide:hidden"
              >
                {line.via}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
