// Makes index and blobs agree again after a sweep or prune that was cut off. What a manifest names is the archive:
// the index follows it, and what no manifest names goes.

import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isTemporaryName, safeSegment } from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { removeTree } from '../disk/remove-tree.ts';
import type { ArchiveIndex } from './archive-index.ts';
import { createBlobFolder } from './blobs.ts';
import { readManifest } from './manifest-file.ts';

/** Names of folders in the root that can be archives; none when there is no root. */
export async function listArchives(root: string): Promise<string[]> {
  return (await entriesOf(root))
    .filter((entry) => entry.isDirectory() && safeSegment(entry.name))
    .map(({ name }) => name)
    .toSorted();
}

/** Only while the root's lock is held: nobody else is half way through anything then. */
export async function mendArchives(root: string, index: ArchiveIndex): Promise<void> {
  for (const entry of await entriesOf(root))
    if (entry.name.startsWith(OURS)) await removeTree(join(root, entry.name));
  const known = new Map(index.runs().map((run) => [run.orchestrator, run]));
  for (const orchestrator of await listArchives(root)) {
    await removeHalves(join(root, orchestrator));
    const reading = await readManifest(root, orchestrator);
    // Without a manifest the next sweep of the run goes on where the last one was cut off.
    if (reading.state !== 'ok') continue;
    const { manifest, sha256 } = reading;
    const run = known.get(orchestrator);
    const isIndexed = run?.manifestSha256 === sha256;
    if (isIndexed && run.prunedAt !== null) {
      await removeArchive(root, orchestrator);
      continue;
    }
    if (!isIndexed) index.put(manifest, sha256, manifest.lastSeq, new Map());
    await createBlobFolder(join(root, orchestrator)).tidy(manifest.files);
  }
}

/** Manifests that were being written. */
async function removeHalves(archive: string): Promise<void> {
  for (const { name } of await entriesOf(archive))
    if (isTemporaryName(name)) await rm(join(archive, name), { force: true });
}

/** Begins the name of everything that lies in the root only while somebody works. */
const OURS = '.svc-';

export function workFolder(root: string): string {
  return join(root, `${OURS}${crypto.randomUUID()}`);
}

/** Gone under its name at once, then removed. */
export async function removeArchive(root: string, orchestrator: string): Promise<void> {
  const aside = workFolder(root);
  try {
    await rename(join(root, orchestrator), aside);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return;
    throw error;
  }
  await removeTree(aside);
}

async function entriesOf(root: string) {
  return (await ifPresent(readdir(root, { withFileTypes: true }))) ?? [];
}
