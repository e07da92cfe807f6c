// The diffs of all files in one list, of which only the visible lines are rendered, with comments on lines.
import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { type KeyboardEvent, memo, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { WorktreeChanges } from 'svc-monitor/src/features/agents/api.ts';
import { shownText } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';
import { type DiffLine, type DiffRow, DiffRowView, rowsOfDiff } from '../../parts/diff.tsx';
import { FileCounts, FileTree, inOrder, treeOf } from './file-tree.tsx';

type ChangedFile = WorktreeChanges['files'][number];

/** `line` is its number after the change, or before it for a removed line. */
export type LineComment = {
  key: string;
  path: string;
  line: number;
  isRemoved: boolean;
  of: string;
  text: string;
};

export type Comments = ReadonlyMap<string, LineComment>;
export type OnComments = (change: (before: Comments) => Comments) => void;

type ListRow =
  | { kind: 'file'; key: string; file: ChangedFile }
  | { kind: 'row'; key: string; file: ChangedFile; row: DiffRow }
  | { kind: 'note'; key: string; file: ChangedFile; text: string }
  | { kind: 'comment'; key: string; file: ChangedFile; comment: LineComment };

export const keyOf = ({ path }: ChangedFile, { kind, before, after }: DiffLine): string =>
  JSON.stringify([path, kind === 'removed', kind === 'removed' ? before : after]);

function listOf(
  files: readonly ChangedFile[],
  folded: ReadonlySet<string>,
  comments: ReadonlyMap<string, LineComment>,
): ListRow[] {
  return files.flatMap((file): ListRow[] => {
    const head: ListRow = { kind: 'file', key: `file ${file.path}`, file };
    if (folded.has(file.path)) return [head];
    const note = noteOn(file);
    if (note !== null) return [head, { kind: 'note', key: `note ${file.path}`, file, text: note }];
    const rows = parsed(file).flatMap((row, index): ListRow[] => {
      const shown: ListRow = { kind: 'row', key: `${file.path}\n${index}`, file, row };
      const comment = 'before' in row ? comments.get(keyOf(file, row)) : undefined;
      if (comment === undefined || !('before' in row) || comment.of !== row.text) return [shown];
      return [shown, { kind: 'comment', key: `comment ${comment.key}`, file, comment }];
    });
    return [head, ...rows];
  });
}

const known = new WeakMap<ChangedFile, DiffRow[]>();
export function parsed(file: ChangedFile): DiffRow[] {
  const rows = known.get(file) ?? rowsOfDiff(file.diff);
  known.set(file, rows);
  return rows;
}

function noteOn({ cut, added, diff, status }: ChangedFile): string | null {
  if (cut) return 'The diff is too long to show. Open the file in an editor.';
  if (added === null) return 'Binary file.';
  if (diff.includes('\n@@ ')) return null;
  return status === 'renamed'
    ? 'Renamed without changes.'
    : 'No changed lines (an empty file, or only its mode).';
}

export function DiffList({
  files,
  comments,
  onComments,
  canComment,
}: {
  files: readonly ChangedFile[];
  comments: ReadonlyMap<string, LineComment>;
  onComments: OnComments;
  canComment: boolean;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<string | null>(null);
  const tree = useMemo(() => treeOf(files), [files]);
  const list = useMemo(() => listOf(inOrder(tree), folded, comments), [tree, folded, comments]);
  const virtual = useVirtualizer({
    count: list.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => heights[list[index]?.kind ?? 'row'],
    getItemKey: (index) => list[index]?.key ?? index,
    overscan: 10,
  });
  const shown = virtual.getVirtualItems();
  const fitting = ((frame.current?.clientWidth ?? 0) - GUTTERS) / CHARACTER;
  const first = list[virtual.range?.startIndex ?? 0]?.file.path ?? null;
  const fold = useCallback(
    (path: string) =>
      setFolded((before) => {
        const next = new Set(before);
        if (!next.delete(path)) next.add(path);
        return next;
      }),
    [],
  );
  const comment = useCallback(
    (file: ChangedFile, row: DiffLine) => {
      const key = keyOf(file, row);
      const isRemoved = row.kind === 'removed';
      const line = (isRemoved ? row.before : row.after) ?? 0;
      onComments((before) =>
        before.has(key)
          ? before
          : new Map(before).set(key, { key, path: file.path, line, isRemoved, of: row.text, text: '' }),
      );
    },
    [onComments],
  );
  const change = useCallback(
    (key: string, text: string | null) =>
      onComments((before) => {
        const next = new Map(before);
        const one = next.get(key);
        if (text === null || one === undefined) next.delete(key);
        else next.set(key, { ...one, text });
        return next;
      }),
    [onComments],
  );
  const goTo = (path: string): void => {
    const at = list.findIndex(({ kind, file }) => kind === 'file' && file.path === path);
    if (at >= 0) virtual.scrollToIndex(at, { align: 'start' });
  };
  /** Arrow keys move over the lines, Enter comments on one. */
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== frame.current) return;
    const at = list.findIndex(({ key }) => key === current);
    const row = list[at];
    if (event.key === 'Enter' && canComment && row?.kind === 'row' && 'before' in row.row) {
      event.preventDefault();
      return comment(row.file, row.row);
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    let next = at < 0 ? (virtual.range?.startIndex ?? 0) - step : at;
    do next += step;
    while (list[next] !== undefined && !isLine(list[next]));
    const found = list[next];
    if (found === undefined) return;
    setCurrent(found.key);
    virtual.scrollToIndex(next, { align: 'auto' });
  };
  return (
    <div className="flex min-h-0 max-wide:flex-col">
      <FileTree tree={tree} current={first} onSelect={goTo} />
      <div className="flex min-w-0 flex-1 flex-col">
        <div
          ref={frame}
          role="region"
          aria-label="Diff of all files. Arrow keys move, Enter comments on the line."
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reachable by keyboard.
          tabIndex={0}
          onKeyDown={onKeyDown}
          className="overflow-y-auto -outline-offset-2"
          style={{ height: virtual.getTotalSize() + 2, maxHeight: 'max(24rem, 72dvh)' }}
        >
          <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
            {shown.map(({ key, index, start }) => {
              const row = list[index];
              return (
                row && (
                  <div
                    key={key}
                    data-index={index}
                    ref={isOneLine(row, fitting) ? undefined : virtual.measureElement}
                    className="absolute inset-x-0 top-0"
                    style={{ transform: `translateY(${start}px)` }}
                  >
                    <ListRowView
                      row={row}
                      isFolded={row.kind === 'file' && folded.has(row.file.path)}
                      isCurrent={row.key === current}
                      fold={fold}
                      comment={canComment ? comment : null}
                      change={change}
                    />
                  </div>
                )
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}

const heights: Record<ListRow['kind'], number> = { file: 34, row: 20, note: 36, comment: 130 };

/** In pixels: line numbers, sign and edges, and more than a character of the monospaced face is wide. */
const GUTTERS = 160;
const CHARACTER = 8;

/** Whether the row certainly has the height of one line, so that it need not be measured. */
function isOneLine(row: ListRow, fitting: number): boolean {
  return row.kind === 'row' && isLine(row) && row.row.text.length < fitting && /^[ -~]*$/.test(row.row.text);
}

function isLine(row: ListRow | undefined): boolean {
  return row?.kind === 'row' && 'before' in row.row;
}

const ListRowView = memo(function ListRowView({
  row,
  isFolded,
  isCurrent,
  fold,
  comment,
  change,
}: {
  row: ListRow;
  isFolded: boolean;
  isCurrent: boolean;
  fold: (path: string) => void;
  comment: ((file: ChangedFile, row: DiffLine) => void) | null;
  change: (key: string, text: string | null) => void;
}) {
  switch (row.kind) {
    case 'file':
      return <FileHead file={row.file} isFolded={isFolded} fold={fold} />;
    case 'note':
      return <p className="px-4 py-2 text-muted text-small">{row.text}</p>;
    case 'comment':
      return <CommentBox comment={row.comment} change={change} />;
    case 'row': {
      const line = row.row;
      return (
        <DiffRowView row={line} isCurrent={isCurrent}>
          {comment !== null && 'before' in line && (
            <button
              type="button"
              // The arrow keys reach the lines.
              tabIndex={-1}
              aria-label={`Comment on line ${line.after ?? line.before}`}
              onClick={() => comment(row.file, line)}
              className="absolute top-0 left-0 flex size-4 items-center justify-center rounded-sm bg-ink text-surface opacity-0 hover:opacity-100 focus-visible:opacity-100 group-hover:opacity-100 max-wide:opacity-40 before:content-['+']"
            />
          )}
        </DiffRowView>
      );
    }
  }
});

const statusNames: Record<ChangedFile['status'], string> = {
  added: 'added',
  modified: 'modified',
  deleted: 'deleted',
  renamed: 'renamed',
  untracked: 'new, untracked',
};

function FileHead({
  file,
  isFolded,
  fold,
}: {
  file: ChangedFile;
  isFolded: boolean;
  fold: (path: string) => void;
}) {
  const Icon = isFolded ? ChevronRight : ChevronDown;
  return (
    <button
      type="button"
      aria-expanded={!isFolded}
      onClick={() => fold(file.path)}
      className="flex w-full items-center gap-2 border-line border-y bg-ground px-3 py-2 text-left -outline-offset-2"
    >
      <Icon aria-hidden="true" className="size-4 shrink-0 text-muted" />
      <span className="from-outside min-w-0 flex-1 font-mono text-ink text-tiny">
        {file.from !== null && <span className="text-muted">{shownText(file.from)} → </span>}
        {shownText(file.path)}
      </span>
      <span className="shrink-0 text-muted text-tiny">{statusNames[file.status]}</span>
      <FileCounts file={file} />
    </button>
  );
}

function CommentBox({
  comment: { key, path, line, text },
  change,
}: {
  comment: LineComment;
  change: (key: string, text: string | null) => void;
}) {
  const [isOpen, setOpen] = useState(text === '');
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (isOpen) box.current?.focus();
  }, [isOpen]);
  const close = (): void => (text.trim() === '' ? change(key, null) : setOpen(false));
  const name = `Comment on ${shownText(path.slice(-200))}:${line}`;
  return (
    <div className="flex flex-col gap-2 border-line border-y bg-ground px-4 py-2">
      {isOpen ? (
        <textarea
          ref={box}
          aria-label={name}
          rows={2}
          maxLength={5_000}
          value={text}
          placeholder="Comment on this line"
          onChange={({ target }) => change(key, target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey))) {
              event.preventDefault();
              close();
            }
          }}
          className="max-w-3xl rounded-control border border-line-strong bg-surface px-2.5 py-1.5 text-small text-text"
        />
      ) : (
        <p className="max-w-3xl whitespace-pre-wrap text-small text-text wrap-anywhere">{text}</p>
      )}
      <div className="flex gap-2">
        {isOpen ? <Button onClick={close}>Keep</Button> : <Button onClick={() => setOpen(true)}>Edit</Button>}
        <Button quiet onClick={() => change(key, null)}>
          Remove
        </Button>
      </div>
    </div>
  );
}
