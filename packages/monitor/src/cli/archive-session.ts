// What every verb of the archive begins with: where it lies, its index, its settings. The archive needs no daemon:
// it has files and tables of its own, and one lock per root keeps two of these verbs apart.
import { safeSegment } from '@svc/core';
import { type ArchiveIndex, rootFrom, withArchiveIndex } from '../archive/archive-index.ts';

import { Failure } from '../errors.ts';
import { createReporter, type ReportFact } from './report-fact.ts';
import { openSession, requireConfig, type Session } from './session.ts';
import type { Terminal } from './terminal.ts';

export type ArchiveSession = Pick<Session, 'machine' | 'locks'> & {
  root: string;
  index: ArchiveIndex;
  settings: { syncToThoughts: boolean; retentionDays: number | null };
  /** The project that the verb was started in. */
  project: string | undefined;
  report: ReportFact;
};

/** Opens the archive for as long as `work` takes. A file that cannot be used is a failure with its name. */
export async function withArchive<T>(
  terminal: Terminal,
  work: (archive: ArchiveSession) => Promise<T>,
): Promise<T> {
  const session = openSession(terminal);
  const { config, files } = await requireConfig(terminal, session);
  const { root: configured, syncToThoughts, retention } = config.archive;
  const { machine, locks } = session;
  const root = rootFrom(configured, machine.home);
  return withArchiveIndex(machine.databaseFile, root, (index) =>
    work({
      machine,
      locks,
      root,
      index,
      settings: { syncToThoughts, retentionDays: retention.days },
      project: files.project.folder,
      report: createReporter(terminal, machine),
    }),
  );
}

/** An argument that names a run becomes part of a path. */
export function runNameFrom(text: string): string {
  if (safeSegment(text)) return text;
  throw new Failure('usage', `${JSON.stringify(text)} is not the name of a run.`);
}

const ours = { source: 'cli', via: 'local', scope: {} } as const;
/** So many names fit into a line of the log. */
const NAMES = 200;

/** Tells the log; nothing is told when nothing was done. */
export async function tellArchive(
  report: ReportFact,
  event: 'archive.swept' | 'archive.pruned' | 'archive.restored',
  runs: readonly { orchestrator: string; files: number; bytes: number }[],
  more: { path: string; olderThanDays?: number },
): Promise<void> {
  for (let first = 0; first < runs.length; first += NAMES) {
    const some = runs.slice(first, first + NAMES);
    await report({
      ...ours,
      event,
      detail: {
        orchestrators: some.map(({ orchestrator }) => orchestrator),
        files: some.reduce((sum, { files }) => sum + files, 0),
        bytes: some.reduce((sum, { bytes }) => sum + bytes, 0),
        ...more,
      },
    });
  }
}

// How far long work is: a bar on a terminal, drawn over itself at most ten times a second; elsewhere a plain line
// every few seconds, so that a log stays short.

const BAR_MS = 100;
const LINE_MS = 5_000;
const WIDTH = 24;

export type ProgressStream = { isTTY?: boolean; columns?: number; write: (text: string) => unknown };
export type Progress = { show: (step: ProgressStep) => void; end: () => void };
type ProgressStep = { orchestrator: string; run: number; runs: number; bytes: number };

/** `createProgress({ terminal, stream: process.stderr, verb: 'Sweeping' })` */
export function createProgress({
  terminal,
  stream,
  verb,
}: {
  terminal: Pick<Terminal, 'err' | 'now'>;
  stream: ProgressStream;
  verb: string;
}): Progress {
  const isBar = stream.isTTY === true;
  let shownAt = terminal.now().getTime();
  let bytes = 0;
  let isDrawn = false;

  return {
    show(step) {
      bytes += step.bytes;
      const now = terminal.now().getTime();
      if (now - shownAt < (isBar ? BAR_MS : LINE_MS)) return;
      shownAt = now;
      const words = `${verb} ${step.run} of ${step.runs} runs, ${bytesText(bytes)}`;
      if (!isBar) return terminal.err(words);
      const done = Math.round(((step.run - 1) / step.runs) * WIDTH);
      const text = `[${'#'.repeat(done)}${'.'.repeat(WIDTH - done)}] ${words}: ${step.orchestrator}`;
      stream.write(`\r\x1b[K${text.slice(0, (stream.columns ?? 80) - 1)}`);
      isDrawn = true;
    },
    end() {
      if (isDrawn) stream.write('\r\x1b[K');
      isDrawn = false;
    },
  };
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1.5 MiB`; bytes without a fraction. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
