// The diff of a tool call, in a frame of its own, and how many lines it adds and removes.
import { useState } from 'react';
import { shownText } from './agent-text.tsx';
import { Button } from './button.tsx';
import { type DiffRow, DiffRowView, rowsBetween } from './diff.tsx';

type ToolDiff = { path: string; before: string; after: string };
const known = new WeakMap<ToolDiff, DiffRow[]>();

function rowsOf(diff: ToolDiff): DiffRow[] {
  const rows = known.get(diff) ?? rowsBetween(diff.before, diff.after);
  known.set(diff, rows);
  return rows;
}

/** A diff that takes long to compute is counted when it is opened. */
const QUICK = 40_000;

function isQuick({ before, after }: ToolDiff): boolean {
  return before.length + after.length <= QUICK;
}

const SHORT_LINE = 300;

/** Whether the diff has at most so many lines, with those around its changes, and none that is very long. */
export function isShortDiff(diff: ToolDiff, most: number): boolean {
  if (!isQuick(diff)) return false;
  const rows = rowsOf(diff);
  return rows.length <= most && rows.every(({ text }) => text.length <= SHORT_LINE);
}

export function DiffCounts({ diffs }: { diffs: readonly ToolDiff[] }) {
  if (diffs.length === 0 || !diffs.every(isQuick)) return null;
  const rows = diffs.flatMap(rowsOf);
  return <LineCounts added={countOf(rows, 'added')} removed={countOf(rows, 'removed')} />;
}

function countOf(rows: readonly DiffRow[], kind: DiffRow['kind']): number {
  return rows.filter((row) => row.kind === kind).length;
}

export function LineCounts({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="mt-0.5 shrink-0 font-mono text-tiny text-muted">
      <span className="sr-only">lines: </span>+{added} −{removed}
    </span>
  );
}

const MOST_ROWS = 300;

/** The diff of a tool call, in a frame of its own. */
export function DiffBox({ diff }: { diff: ToolDiff }) {
  const rows = rowsOf(diff);
  const [all, setAll] = useState(false);
  return (
    <section
      aria-label={`Changes of ${shownText(diff.path.slice(-200))}`}
      className="overflow-hidden rounded-control border border-line"
    >
      <header className="flex items-center justify-between gap-2 border-line border-b bg-sunken px-3 py-1">
        <span className="from-outside min-w-0 font-mono text-ink text-tiny">
          {diff.path === '' ? 'path unknown' : shownText(diff.path.slice(-400))}
        </span>
        <LineCounts added={countOf(rows, 'added')} removed={countOf(rows, 'removed')} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reachable by keyboard. */}
      <div tabIndex={0} className="max-h-96 overflow-auto bg-surface -outline-offset-2">
        {rows.slice(0, all ? rows.length : MOST_ROWS).map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a diff never changes.
          <DiffRowView key={index} row={row} />
        ))}
        {!all && rows.length > MOST_ROWS && (
          <Button quiet onClick={() => setAll(true)}>
            Show all {rows.length} lines
          </Button>
        )}
      </div>
    </section>
  );
}
