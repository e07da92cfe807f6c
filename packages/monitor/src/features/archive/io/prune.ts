// Removes archives that are old enough. The index marks an archive first: an interrupted prune is finished by the next
// sweep or prune.
import { join } from 'node:path';
import { stat } from '@svc/lib/paths';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import { isPrunable } from '../archive-rules.ts';
import { type ArchiveIndex, listArchives, removeArchive, repairArchives } from './archive-index.ts';
import { readManifest } from './manifest-file.ts';

export type PrunedRun = { orchestrator: string; archivedAt: string; files: number; storedBytes: number };

export type PruneOptions = {
  root: string;
  index: ArchiveIndex;
  locks: FileLocks;
  ageMs: number;
  /** Asked right before each removal. */
  isWanted?: (orchestrator: string) => boolean;
  dryRun?: boolean;
  now: () => number;
  signal?: AbortSignal;
  onProgress?: (progress: { orchestrator: string; run: number; runs: number; bytes: number }) => void;
};

export async function pruneArchives(options: PruneOptions): Promise<PrunedRun[]> {
  const { root, index, locks, dryRun = false } = options;
  if (dryRun) return oldOnes(options);
  return locks.withLock(root, async () => {
    await repairArchives(root, index);
    const removed: PrunedRun[] = [];
    const old = await oldOnes(options);
    for (const [number, run] of old.entries()) {
      if (options.signal?.aborted === true) break;
      if (options.isWanted?.(run.orchestrator) === false) continue;
      index.markPruned(run.orchestrator, new Date(options.now()).toISOString());
      await removeArchive(root, run.orchestrator);
      removed.push(run);
      const { orchestrator, storedBytes: bytes } = run;
      options.onProgress?.({ orchestrator, run: number + 1, runs: old.length, bytes });
    }
    return removed;
  });
}

async function oldOnes({ root, index, ageMs, now }: PruneOptions): Promise<PrunedRun[]> {
  const indexed = index.runs().filter(({ prunedAt }) => prunedAt === null);
  const old = indexed.filter(({ archivedAt }) => isPrunable(archivedAt, ageMs, now()));
  return [
    ...old.map(({ orchestrator, archivedAt, files, storedBytes }) => ({
      orchestrator,
      archivedAt,
      files,
      storedBytes,
    })),
    ...(await oldLeftovers(root, new Set(indexed.map(({ orchestrator }) => orchestrator)), ageMs, now())),
  ];
}

/** Folders of sweeps that were interrupted before there was a manifest, and never finished. */
async function oldLeftovers(
  root: string,
  indexed: ReadonlySet<string>,
  ageMs: number,
  now: number,
): Promise<PrunedRun[]> {
  const leftovers: PrunedRun[] = [];
  for (const orchestrator of await listArchives(root)) {
    if (indexed.has(orchestrator) || (await readManifest(root, orchestrator)).state !== 'missing') continue;
    const archivedAt = (await stat(join(root, orchestrator))).mtime.toISOString();
    if (isPrunable(archivedAt, ageMs, now))
      leftovers.push({ orchestrator, archivedAt, files: 0, storedBytes: 0 });
  }
  return leftovers;
}
