// Which archives are old enough to go.
import { durationMs } from '../log/since.ts';

const DAY_MS = 86_400_000;

/** `never`: no age was given, and none is configured. */
export type PruneAge = { ageMs: number } | 'never' | 'unreadable';

/** `--older-than` where it is given, else `archive.retention.days`; null there means never. */
export function pruneAge(olderThan: string | undefined, retentionDays: number | null): PruneAge {
  if (olderThan === undefined) return retentionDays === null ? 'never' : { ageMs: retentionDays * DAY_MS };
  const ageMs = durationMs(olderThan);
  return ageMs === undefined ? 'unreadable' : { ageMs };
}

/** Counted from the last change of the archive. */
export function isPrunable(archivedAt: string, ageMs: number, now: number): boolean {
  return Date.parse(archivedAt) <= now - ageMs;
}
