// What every verb of the archive begins with: where it lies, its index, its settings. The archive needs no daemon:
// it has files and tables of its own, and one lock per root keeps two of these verbs apart.
import { safeSegment } from '@svc/core';
import type { ArchiveIndex } from '../archive/archive-index.ts';
import { rootFrom, withArchiveIndex } from '../archive/open-archive.ts';
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
