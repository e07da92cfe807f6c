// Archives and the daemon's own logs.
import { lstat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { retentionOfArchive, retentionPolicy } from '@svc/core';
import { ifPresent, namesIn } from '@svc/lib/files';
import { rootFrom, withArchiveIndex } from '../archive/archive-index.ts';
import { pruneArchives } from '../archive/prune.ts';
import { logFileOf } from '../control/log-file.ts';
import { Failure } from '../errors.ts';
import type { Candidate, Sources } from './candidate.ts';

const DAY_MS = 86_400_000;
const nothing = async () => ({ inUse: [], unsaved: [] });

export async function archiveCandidates(
  { machine, config, board, locks, now }: Sources,
  note: (path: string, error: unknown) => void,
): Promise<Candidate[]> {
  const root = rootFrom(config().archive.root, machine.home);
  const { databaseFile } = machine;
  const runs = await withArchiveIndex(databaseFile, root, async (index) => index.runs()).catch(
    (error: unknown) => {
      note(root, error);
      return [];
    },
  );
  return runs
    .filter(({ prunedAt }) => prunedAt === null)
    .map(({ orchestrator, archivedAt, storedBytes }) => ({
      kind: 'archives',
      name: orchestrator,
      path: join(root, orchestrator),
      bytes: storedBytes,
      facts: () => ({
        ...retentionPolicy(config(), 'archives'),
        ...retentionOfArchive(board(), orchestrator, archivedAt),
      }),
      look: nothing,
      async remove(isDue) {
        const days = config().archive.retention.days ?? Number.POSITIVE_INFINITY;
        const isWanted = (name: string): boolean => name === orchestrator && isDue();
        const pruned = await withArchiveIndex(databaseFile, root, (index) =>
          pruneArchives({
            root,
            index,
            locks,
            ageMs: days * DAY_MS,
            isWanted,
            now: () => now().getTime(),
          }),
        );
        if (pruned.length === 0)
          throw new Failure('not-allowed-now', `The archive of ${orchestrator} has changed meanwhile.`);
      },
    }));
}

/** The daemon writes to one file and keeps the one before. */
export async function logCandidates({ machine, config }: Sources): Promise<Candidate[]> {
  const folder = dirname(logFileOf(machine.dataDir));
  const found: Candidate[] = [];
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const stats = await ifPresent(lstat(path));
    if (stats?.isFile() !== true) continue;
    const inUse = name.endsWith('.1') ? [] : ['it is being written'];
    found.push({
      kind: 'logs',
      name,
      path,
      bytes: stats.size,
      facts: () => ({ ...retentionPolicy(config(), 'logs'), changedAt: stats.mtimeMs, inUse, attention: [] }),
      look: nothing,
      async remove() {
        // Rotated meanwhile: this is another log.
        if ((await lstat(path)).ino !== stats.ino)
          throw new Failure('not-allowed-now', `${name} has changed meanwhile.`);
        await unlink(path);
      },
    });
  }
  return found;
}
