// Lines that are lost: a log file was removed, truncated or damaged. `seq` has no gaps by itself, so a gap is reported
// until a person accepts the loss.

/** The first and the last of them. */
export type MissingLines = { from: number; to: number };

const LISTED = 3;

export const MISSING_REMEDY =
  'Stop the daemon, restore the file from a backup and start it again; or accept the loss: svc events reindex --accept-missing';

/** Nothing has been written since, so it is not known yet which lines are lost. */
export const FILE_CHANGED = 'another program removed, truncated or replaced the newest file of the event log';
export const FILE_CHANGED_REMEDY =
  'Run: svc monitor restart. It continues after the last complete event; health then lists the missing events.';

/** `events 31 to 60 are missing from the log`; undefined when none are. */
export function missingText(missing: readonly MissingLines[]): string | undefined {
  if (missing.length === 0) return undefined;
  const listed = missing
    .slice(0, LISTED)
    .map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
  const others = missing.length - listed.length;
  const ranges = [...listed, ...(others > 0 ? [`${others} more ranges`] : [])].join(', ');
  const isOne = missing.length === 1 && missing[0]?.from === missing[0]?.to;
  return isOne ? `event ${ranges} is missing from the log` : `events ${ranges} are missing from the log`;
}

/** Sorted, with adjacent and overlapping ranges joined. */
export function joinMissing(missing: readonly MissingLines[]): MissingLines[] {
  const joined: MissingLines[] = [];
  for (const { from, to } of missing.toSorted((one, other) => one.from - other.from)) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
  }
  return joined;
}
