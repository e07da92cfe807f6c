// What belongs to a run: channels by their name, log lines by their scope, and its summary.
import type { WorkerStatus } from '@svc/contract/signal-file';
import { durationMs } from '../../kernel/log/event-filter.ts';
import type { EventLine } from '../../kernel/log/event-line.ts';
import { summaryNames } from '../runs/run-summary.ts';
import { isEnded } from '../workers/status-groups.ts';
import type { ArchivedFile, ArchivedRunState } from './manifest.ts';

/**
 * The run that a channel is named after: `<orchId>`, or `<orchId>` followed by a dot, dash or underscore and more. The
 * longest match wins: `nightly-2-review.jsonl` belongs to `nightly-2`, not to `nightly`.
 */
export function runOfChannel(name: string, runs: Iterable<string>): string | undefined {
  let longest: string | undefined;
  for (const run of runs) {
    const fits = name === run || (name.startsWith(run) && /^[._-]/.test(name.slice(run.length)));
    if (fits && run.length > (longest?.length ?? 0)) longest = run;
  }
  return longest;
}

/**
 * The run that a line is about. Lines about the archive itself belong to no run: otherwise each sweep would make the
 * next one necessary.
 */
export function runOfLine({ event, scope }: Pick<EventLine, 'event' | 'scope'>): string | undefined {
  return event.startsWith('archive.') ? undefined : scope.orchestrator;
}

const stateAfter: Readonly<Record<string, ArchivedRunState>> = {
  'orchestrator.run.started': 'running',
  'orchestrator.run.resumed': 'running',
  'orchestrator.run.paused': 'paused',
  'orchestrator.run.completed': 'completed',
  'orchestrator.run.canceled': 'canceled',
};

/** The run state that a line reports; undefined if it reports none. */
export function runStateAfter({ event }: Pick<EventLine, 'event'>): ArchivedRunState | undefined {
  return stateAfter[event];
}

/** A temporary file of a writer that replaces the real file when it is done. */
export function isTemporaryName(name: string): boolean {
  return name.startsWith('.') && name.endsWith('.tmp');
}

export function summaryOf(files: readonly ArchivedFile[]): ArchivedFile | undefined {
  const named = (path: string) => files.find((file) => file.path === path);
  return summaryNames.map((name) => named(`run/${name}`)).find((file) => file !== undefined);
}

/** `2026-01-02-<orchId>-summary.md`, by the day on which the summary was written, UTC. */
export function handoffName(orchestrator: string, summary: Pick<ArchivedFile, 'mtime'>): string {
  return `${new Date(summary.mtime).toISOString().slice(0, 10)}-${orchestrator}-summary.md`;
}

// Whether a run has ended, so that the sweep may archive it unasked.

/** A run that was not reported as ended counts as ended after this time without a change. */
export const QUIET_MS = 60 * 60_000;

export type RunStanding = {
  state: ArchivedRunState;
  /** One for each signal file; null where it cannot be read. */
  statuses: readonly (WorkerStatus | null)[];
  /** The newest change of a file or line of the run. */
  changedAt: number;
};

/** Why the run is not swept yet; undefined when it has ended. */
export function whyNotEnded({ state, statuses, changedAt }: RunStanding, now: number): string | undefined {
  if (state === 'completed' || state === 'canceled') return undefined;
  if (statuses.length === 0) return 'it was not reported as ended, and it has no tickets';
  if (statuses.includes(null)) return 'a status file cannot be read';
  const open = statuses.filter((status) => status !== null && !isEnded(status)).length;
  if (open > 0) return `${open} of ${statuses.length} tickets have not ended`;
  if (now - changedAt < QUIET_MS) return 'it changed within the last hour';
  return undefined;
}

// Which archives are old enough to be removed.

const DAY_MS = 86_400_000;

/** `never`: no age is given or configured. */
export type PruneAge = { ageMs: number } | 'never' | 'unreadable';

/** `--older-than` if given, else `archive.retention.days`; null there means never. */
export function pruneAge(olderThan: string | undefined, retentionDays: number | null): PruneAge {
  if (olderThan === undefined) return retentionDays === null ? 'never' : { ageMs: retentionDays * DAY_MS };
  const ageMs = durationMs(olderThan);
  return ageMs === undefined ? 'unreadable' : { ageMs };
}

/** Counted from the last change of the archive. */
export function isPrunable(archivedAt: string, ageMs: number, now: number): boolean {
  return Date.parse(archivedAt) <= now - ageMs;
}
