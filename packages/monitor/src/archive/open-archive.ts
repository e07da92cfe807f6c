// Where the archive lies, and its index; for the verbs of the archive and for the daemon.
import { isAbsolute, join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { DatabaseFromNewerVersion, isDamage } from '../disk/sqlite.ts';
import { Failure } from '../errors.ts';
import { type ArchiveIndex, openArchiveIndex } from './archive-index.ts';

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

/** The index for as long as `work` takes. A file that cannot be used is a failure with its name. */
export async function withArchiveIndex<T>(
  databaseFile: string,
  root: string,
  work: (index: ArchiveIndex) => Promise<T>,
): Promise<T> {
  const index = openIndex(databaseFile, root);
  try {
    return await work(index);
  } catch (error) {
    throw asFailure(error);
  } finally {
    index.close();
  }
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
