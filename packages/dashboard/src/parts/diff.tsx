// The lines of a diff, from a unified diff or from two texts, and how one line is drawn. Added and removed lines differ by
// sign and edge as well as by colour.
import { memo, type ReactNode } from 'react';
import { shownText } from './agent-text.tsx';
import { classNames } from './class-names.ts';

export type DiffLine = {
  kind: 'same' | 'added' | 'removed';
  /** The line's number before and after; null where it does not exist. */
  before: number | null;
  after: number | null;
  text: string;
};
export type DiffRow = DiffLine | { kind: 'hunk' | 'note'; text: string };

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const kindOf: Readonly<Record<string, DiffLine['kind']>> = { ' ': 'same', '+': 'added', '-': 'removed' };

export function rowsOfDiff(diff: string): DiffRow[] {
  const rows: DiffRow[] = [];
  let before = 0;
  let after = 0;
  let isHunk = false;
  for (const line of diff.split('\n')) {
    const start = HUNK.exec(line);
    const kind = isHunk ? kindOf[line[0] ?? ''] : undefined;
    if (start !== null) {
      isHunk = true;
      before = Number(start[1]);
      after = Number(start[2]);
      rows.push({ kind: 'hunk', text: line });
    } else if (kind !== undefined) {
      rows.push({
        kind,
        before: kind === 'added' ? null : before,
        after: kind === 'removed' ? null : after,
        text: line.slice(1),
      });
      if (kind !== 'added') before += 1;
      if (kind !== 'removed') after += 1;
    } else if (isHunk && line.startsWith('\\')) rows.push({ kind: 'note', text: line.slice(2) });
    else isHunk = false;
  }
  return rows;
}

const CONTEXT = 3;
/** Beyond this product of lines the texts are not compared line by line. */
const MOST_COMPARED = 1_000_000;

/** The difference of two texts, with a few lines around each change. */
export function rowsBetween(old: string, now: string): DiffRow[] {
  const [left, right] = [linesOf(old), linesOf(now)];
  const lines = numbered(left, right);
  const isNear = lines.map(() => false);
  lines.forEach(({ kind }, index) => {
    if (kind !== 'same') isNear.fill(true, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  });
  return lines.flatMap((line, index): DiffRow[] => {
    if (!isNear[index]) return [];
    if (index === 0 || isNear[index - 1]) return [line];
    return [{ kind: 'hunk', text: `@@ line ${line.after ?? line.before ?? 1} @@` }, line];
  });
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

function numbered(left: readonly string[], right: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (
    end < Math.min(left.length, right.length) - start &&
    left[left.length - 1 - end] === right[right.length - 1 - end]
  )
    end += 1;
  const kinds = [
    ...times(start, 'same'),
    ...kindsBetween(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...times(end, 'same'),
  ];
  let [before, after] = [0, 0];
  return kinds.map((kind) => {
    if (kind !== 'added') before += 1;
    if (kind !== 'removed') after += 1;
    return {
      kind,
      before: kind === 'added' ? null : before,
      after: kind === 'removed' ? null : after,
      text: (kind === 'removed' ? left[before - 1] : right[after - 1]) ?? '',
    };
  });
}

function times(count: number, kind: DiffLine['kind']): DiffLine['kind'][] {
  return Array.from({ length: count }, () => kind);
}

/** By the longest common subsequence; removed lines come before added ones. */
function kindsBetween(left: readonly string[], right: readonly string[]): DiffLine['kind'][] {
  const [height, width] = [left.length, right.length];
  if (height * width > MOST_COMPARED) return [...times(height, 'removed'), ...times(width, 'added')];
  const common = new Uint32Array((height + 1) * (width + 1));
  const at = (row: number, column: number): number => common[row * (width + 1) + column] ?? 0;
  for (let row = height - 1; row >= 0; row -= 1)
    for (let column = width - 1; column >= 0; column -= 1)
      common[row * (width + 1) + column] =
        left[row] === right[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const kinds: DiffLine['kind'][] = [];
  let [row, column] = [0, 0];
  while (row < height || column < width) {
    if (row < height && column < width && left[row] === right[column]) {
      kinds.push('same');
      row += 1;
      column += 1;
    } else if (row < height && (column === width || at(row + 1, column) >= at(row, column + 1))) {
      kinds.push('removed');
      row += 1;
    } else {
      kinds.push('added');
      column += 1;
    }
  }
  return kinds;
}

const looks = {
  same: { sign: ' ', name: '', className: 'border-l-transparent' },
  added: { sign: '+', name: 'added', className: 'border-l-proven-mark border-solid bg-added-soft' },
  removed: { sign: '−', name: 'removed', className: 'border-l-broken-mark border-dashed bg-removed-soft' },
};
const LONGEST_LINE = 2_000;

/** `children`: what is drawn at the start of a line, like a button. */
export const DiffRowView = memo(function DiffRowView({
  row,
  isCurrent = false,
  children,
}: {
  row: DiffRow;
  isCurrent?: boolean;
  children?: ReactNode;
}) {
  if (!('before' in row))
    return (
      <div className="from-outside bg-sunken px-3 font-mono text-muted text-tiny/6">
        {shownText(row.text.slice(0, 200))}
      </div>
    );
  const { sign, name, className } = looks[row.kind];
  const text = shownText(row.text.slice(0, LONGEST_LINE));
  return (
    <div
      className={classNames(
        'group relative flex border-l-3 pr-3 font-mono text-tiny/5 text-text',
        className,
        isCurrent && 'outline-2 outline-ink -outline-offset-2',
      )}
    >
      {/* A narrow page has one column of numbers: those of the new file, and of the old one for a removed line. */}
      <span className="relative w-12 shrink-0 select-none pr-2 text-right text-muted in-data-[place=card]:hidden max-wide:w-9 max-wide:pr-1">
        {children}
        <span className="max-wide:hidden">{row.before}</span>
        <span className="wide:hidden">{row.after ?? row.before}</span>
      </span>
      <span className="w-12 shrink-0 select-none pr-2 text-right text-muted in-data-[place=card]:hidden max-wide:hidden">
        {row.after}
      </span>
      <span aria-hidden="true" className="w-5 shrink-0 select-none text-center font-semibold text-ink">
        {sign}
      </span>
      {name !== '' && <span className="sr-only">{name}: </span>}
      <span dir="ltr" className="from-outside min-w-0 flex-1 whitespace-pre-wrap">
        {text === '' ? ' ' : text}
        {row.text.length > LONGEST_LINE && (
          <span className="text-muted"> … {row.text.length - LONGEST_LINE} more characters</span>
        )}
      </span>
    </div>
  );
});
