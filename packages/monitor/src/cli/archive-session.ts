// What every verb of the archive begins with: where it lies, its index, its settings. The archive needs no daemon:
// it has files and tables of its own, and one lock per root keeps two of these verbs apart.
import { isAbsolute, join } from 'node:path';
import { safeSegment } from '@svc/core';
import { type ArchiveIndex, openArchiveIndex } from '../archive/archive-index.ts';
import { DatabaseFromNewerVersion, isDamage } from '../disk/sqlite.ts';
import { Failure, systemErrorCode } from '../errors.ts';
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
  const index = openIndex(machine.databaseFile, root);
  try {
    return await work({
      machine,
      locks,
      root,
      index,
      settings: { syncToThoughts, retentionDays: retention.days },
      project: files.project.folder,
      report: createReporter(terminal, machine),
    });
  } catch (error) {
    throw asFailure(error);
  } finally {
    index.close();
  }
}

export function rootFrom(configured: string, home: string): string {
  if (configured === '~') return home;
  if (configured.startsWith('~/')) return join(home, configured.slice(2));
  if (isAbsolute(configured)) return join(configured);
  throw new Failure(
    'config-invalid',
    `archive.root must be an absolute path, found ${JSON.stringify(configured)}.`,
    'Set it: svc config set archive.root ~/svc/archives',
  );
}

function openIndex(databaseFile: string, root: string): ArchiveIndex {
  try {
    return openArchiveIndex({ databaseFile, root });
  } catch (error) {
    if (error instanceof DatabaseFromNewerVersion)
      throw new Failure('file-unusable', error.message, error.remedy);
    if (!isDamage(error)) throw asFailure(error);
    throw new Failure(
      'file-unusable',
      `The index ${databaseFile} is damaged.`,
      'Start the daemon, which makes it anew: svc-monitor.sh start. Then: svc archive sweep',
    );
  }
}

function asFailure(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error) || systemErrorCode(error) === undefined)
    return error;
  return new Failure('file-unusable', error.message, undefined, { cause: error });
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
