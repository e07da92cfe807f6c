// How much space a disk has, in bytes and in files.
import { statfs } from '@svc/lib/paths';
import { every } from '@svc/lib/rounds';
import type { Logger } from 'pino';
import { type DiskSpace, tooManyFiles } from './judge-disk.ts';

const LOOK_EVERY_MS = 60_000;

/** Some file systems have no limit of files, and report 0 of them. */
export async function diskSpaceOf(folder: string): Promise<DiskSpace> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  return { freeBytes: bavail * bsize, freeFiles: files === 0 ? null : ffree };
}

/** Looks every minute whether the disk has too many files: lines are still written then, but no new file. */
export function watchFiles(
  folder: string,
  logger: Pick<Logger, 'warn'>,
  opened: { defer: (stop: () => Promise<void>) => void },
  space = diskSpaceOf,
) {
  let problem: ReturnType<typeof tooManyFiles> = null;
  const look = async (): Promise<void> => {
    problem = tooManyFiles(folder, await space(folder));
  };
  const rounds = every(LOOK_EVERY_MS, look, (error) => {
    logger.warn({ err: error }, 'the disk cannot be looked at');
  });
  void rounds.runNow();
  opened.defer(rounds.stop);
  return { problem: () => problem, look: rounds.runAfresh };
}
