// Lines that the log had and has no more: a file was removed, cut or damaged. `seq` has no holes of its own, so a hole
// is a finding, until a person has accepted that these lines are gone.

/** From the first to the last of them. */
export type MissingLines = { from: number; to: number };

const NAMED = 3;

export const MISSING_REMEDY =
  'Stop the daemon, put the file back from a backup and start it; or accept that they are gone: svc events reindex --accept-missing';

/** Nothing has been written since, so that it is not known yet which lines went. */
export const FILE_CHANGED =
  'the newest file of the event log was removed, cut or replaced by another program';
export const FILE_CHANGED_REMEDY =
  'Run: svc monitor restart. It goes on behind the last whole line, and health then names the lines that are missing.';

/** `lines 31 to 60 are missing from the event log`; undefined when none are. */
export function missingWords(missing: readonly MissingLines[]): string | undefined {
  if (missing.length === 0) return undefined;
  const named = missing.slice(0, NAMED).map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
  const others = missing.length - named.length;
  const ranges = [...named, ...(others > 0 ? [`${others} more ranges`] : [])].join(', ');
  return `lines ${ranges} are missing from the event log`;
}

/** In order, with those that touch or overlap joined. */
export function joinMissing(missing: readonly MissingLines[]): MissingLines[] {
  const joined: MissingLines[] = [];
  for (const { from, to } of missing.toSorted((one, other) => one.from - other.from)) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
  }
  return joined;
}
