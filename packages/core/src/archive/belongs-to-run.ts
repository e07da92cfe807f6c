// What belongs to a run: channels by their name, lines of the log by their scope, and its summary.
import type { EventLine } from '../log/event-line.ts';
import type { ArchivedFile, ArchivedRunState } from './manifest.ts';

/**
 * The run that a channel is named for: `<orchId>`, or `<orchId>` and more behind a dot, dash or underline. Where
 * several fit, the longest: `nightly-2-review.jsonl` is of `nightly-2`, not of `nightly`.
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
 * The run that a line is about. Lines about the archive itself count for none: each sweep would make the next one
 * necessary.
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

/** What a line says of its run's state; undefined when it says nothing of it. */
export function runStateAfter({ event }: Pick<EventLine, 'event'>): ArchivedRunState | undefined {
  return stateAfter[event];
}

/** Half-written by a writer that replaces its file when it is done. */
export function isTemporaryName(name: string): boolean {
  return name.startsWith('.') && name.endsWith('.tmp');
}

/** The summary at the top of a run's folder; the first that is there counts. */
export const summaryNames = ['summary.md', 'SUMMARY.md'] as const;

export function summaryOf(files: readonly ArchivedFile[]): ArchivedFile | undefined {
  const named = (path: string) => files.find((file) => file.path === path);
  return summaryNames.map((name) => named(`run/${name}`)).find((file) => file !== undefined);
}

/** `2026-01-02-<orchId>-summary.md`, by the day on which the summary was written, UTC. */
export function handoffName(orchestrator: string, summary: Pick<ArchivedFile, 'mtime'>): string {
  return `${new Date(summary.mtime).toISOString().slice(0, 10)}-${orchestrator}-summary.md`;
}
