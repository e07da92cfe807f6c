// What all archive verbs share: location, index and settings. The archive needs no daemon: it has its own files and
// tables, and one lock per root keeps two of these verbs apart.
import { safeSegment } from '@svc/contract/signal-file';
import { createReporter, type ReportFact } from '../../../cli/kit/report-fact.ts';
import { openSession, requireConfig, type Session } from '../../../cli/kit/session.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import { refuseNewerData } from '../../../kernel/disk/data-format.ts';
import { Failure } from '../../../kernel/failure.ts';
import { type ArchiveIndex, rootFrom, withArchiveIndex } from '../io/archive-index.ts';

export type ArchiveSession = Pick<Session, 'machine' | 'locks'> & {
  root: string;
  index: ArchiveIndex;
  settings: { syncToThoughts: boolean; retentionDays: number | null };
  /** The project that the verb was started in. */
  project: string | undefined;
  report: ReportFact;
};

/** A verb can wait for the daemon's transaction. */
const INDEX_WAIT_MS = 5_000;

/** Keeps the archive open while `work` runs. A file that cannot be used is a failure that names it. */
export async function withArchive<T>(
  terminal: Terminal,
  work: (archive: ArchiveSession) => Promise<T>,
): Promise<T> {
  const session = openSession(terminal);
  const { config, files } = await requireConfig(terminal, session);
  const { root: configured, syncToThoughts, retention } = config.archive;
  const { machine, locks } = session;
  refuseNewerData(machine.dataDir);
  const root = rootFrom(configured, machine.home);
  return withArchiveIndex(
    machine.databaseFile,
    root,
    (index) =>
      work({
        machine,
        locks,
        root,
        index,
        settings: { syncToThoughts, retentionDays: retention.days },
        project: files.project.folder,
        report: createReporter(terminal, machine),
      }),
    INDEX_WAIT_MS,
  );
}

/** Checks an argument that becomes part of a path. */
export function runNameFrom(text: string): string {
  if (safeSegment(text)) return text;
  throw new Failure(
    'usage',
    `${JSON.stringify(text)} is not a valid run name.`,
    'List archived runs: svc archive list',
  );
}

const origin = { source: 'cli', via: 'local', scope: {} } as const;
/** The most names that fit into one line of the log. */
const MOST_NAMES = 200;

/** Reports what was done to the log; without runs it reports nothing. */
export async function reportArchive(
  report: ReportFact,
  event: 'archive.swept' | 'archive.pruned' | 'archive.restored',
  runs: readonly { orchestrator: string; files: number; bytes: number }[],
  more: { path: string; olderThanDays?: number },
): Promise<void> {
  for (let first = 0; first < runs.length; first += MOST_NAMES) {
    const some = runs.slice(first, first + MOST_NAMES);
    await report({
      ...origin,
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

// Progress of long work: a bar on a terminal, redrawn at most ten times a second; otherwise a plain line every few
// seconds, so a log stays short.

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
