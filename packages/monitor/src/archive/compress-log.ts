// Compresses old months of the event log in place. Readers go on reading them; the newest month, which the daemon
// may write to, is never touched.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FileLocks } from '../disk/lock.ts';
import { compressMonth } from '../log/compress-month.ts';
import { endOfMonthFile, listFilledMonthFiles } from '../log/month-file.ts';

export type CompressedMonth = { file: string; bytes: number; storedBytes: number };

export type CompressLogOptions = {
  eventsDir: string;
  locks: FileLocks;
  /** Since the end of the month. */
  ageMs: number;
  dryRun?: boolean;
  now: () => number;
  signal?: AbortSignal;
};

/** In a dry run the sizes are not known: they are 0. */
export async function compressLog(options: CompressLogOptions): Promise<CompressedMonth[]> {
  const { eventsDir, locks, dryRun = false, signal } = options;
  if (dryRun) return oldMonths(options).map((file) => ({ file, bytes: 0, storedBytes: 0 }));
  return locks.withLock(join(eventsDir, 'compress'), async () => {
    const done: CompressedMonth[] = [];
    for (const file of oldMonths(options)) {
      if (signal?.aborted === true) break;
      done.push({ file, ...compressMonth(eventsDir, file) });
    }
    return done;
  });
}

function oldMonths({ eventsDir, ageMs, now }: CompressLogOptions): string[] {
  return listFilledMonthFiles(eventsDir)
    .slice(0, -1)
    .filter((file) => endOfMonthFile(file) <= now() - ageMs && existsSync(join(eventsDir, file)));
}
