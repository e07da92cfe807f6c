// Restores an archived run, byte for byte, into a separate folder: all of it, or nothing.
import { mkdir, rename, utimes } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { createFile, isFolder, readdir, readText, syncFolder } from '@svc/lib/paths';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import { removeTree } from '../../../kernel/disk/private-file.ts';
import { Failure } from '../../../kernel/failure.ts';
import { handoffName, summaryOf } from '../archive-rules.ts';
import type { ArchiveManifest } from '../manifest.ts';
import { BlobDamaged, type BlobFolder, createBlobFolder } from './blobs.ts';
import { readManifest } from './manifest-file.ts';

export type RestoreOptions = {
  root: string;
  orchestrator: string;
  /** Absolute; a folder that does not exist yet, or is empty. */
  to: string;
  locks: FileLocks;
  onBytes?: (bytes: number) => void;
};

export async function restoreRun(options: RestoreOptions): Promise<ArchiveManifest> {
  const { root, orchestrator, to, locks } = options;
  return locks.withLock(root, async () => {
    const manifest = await archivedManifest(root, orchestrator);
    await requireEmpty(to);
    const parent = dirname(to);
    await mkdir(parent, { recursive: true });
    const beside = join(parent, `.${basename(to)}.${crypto.randomUUID()}.tmp`);
    try {
      await restoreInto(beside, manifest, options);
      await rename(beside, to);
    } catch (error) {
      await removeTree(beside);
      if (error instanceof BlobDamaged)
        throw new Failure(
          'file-unusable',
          `${error.message} Nothing was restored.`,
          `If the run's own files still exist, archive it again: svc archive sweep ${orchestrator}`,
        );
      throw error;
    }
    await syncFolder(parent);
    return manifest;
  });
}

/** The manifest of an archive, or a failure with the reason. */
export async function archivedManifest(root: string, orchestrator: string): Promise<ArchiveManifest> {
  const reading = await readManifest(root, orchestrator);
  if (reading.state === 'ok') return reading.manifest;
  if (reading.state === 'missing')
    throw new Failure('unknown-run', `There is no archive of ${orchestrator}.`, 'See: svc archive list');
  throw new Failure(
    'file-unusable',
    `The manifest of ${orchestrator} ${reading.problem}.`,
    `If the run's own files still exist, archive it again: svc archive sweep ${orchestrator}`,
  );
}

async function requireEmpty(folder: string): Promise<void> {
  try {
    if ((await readdir(folder)).length === 0) return;
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT') return;
    if (code !== 'ENOTDIR') throw error;
  }
  throw new Failure('usage', `--to: ${folder} exists and is not an empty folder.`);
}

async function restoreInto(
  folder: string,
  manifest: ArchiveManifest,
  options: RestoreOptions,
): Promise<void> {
  const blobs = createBlobFolder(join(options.root, options.orchestrator));
  const folders = new Set([folder]);
  await mkdir(folder, { mode: 0o700 });
  for (const file of manifest.files) {
    const path = join(folder, file.path);
    const parent = dirname(path);
    if (!folders.has(parent)) await mkdir(parent, { recursive: true });
    for (let made = parent; made.startsWith(folder); made = dirname(made)) folders.add(made);
    await restoreFile(path, blobs, file);
    options.onBytes?.(file.size);
  }
  for (const made of folders) await syncFolder(made);
}

async function restoreFile(
  path: string,
  blobs: BlobFolder,
  file: ArchiveManifest['files'][number],
): Promise<void> {
  const handle = await createFile(path);
  try {
    for await (const chunk of blobs.read(file)) await handle.writeFile(chunk);
    await handle.chmod(file.mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
  const mtime = new Date(file.mtime);
  await utimes(path, mtime, mtime);
}

// `syncToThoughts`: copies the summary of an archived run to where the next person or agent looks for it.

/** A summary is for people: a longer one is not copied. */
const MAX_BYTES = 16 * 1024 * 1024;

type Handoff =
  | { state: 'written' | 'same'; path: string }
  | { state: 'no-summary' }
  | { state: 'not-written'; reason: string };

/** Into `thoughts/shared/handoffs/` of the project that the run was started in, otherwise of the given one. */
export async function copySummary({
  root,
  manifest,
  project,
}: {
  root: string;
  manifest: ArchiveManifest;
  project: string | undefined;
}): Promise<Handoff> {
  const summary = summaryOf(manifest.files);
  if (summary === undefined) return { state: 'no-summary' };
  if (summary.size > MAX_BYTES) return { state: 'not-written', reason: 'the summary is too long' };
  const { project: own } = manifest;
  const folder = own !== null && isAbsolute(own) && (await isFolder(own)) ? own : project;
  if (folder === undefined) return { state: 'not-written', reason: 'its project folder is not known' };
  const chunks: Buffer[] = [];
  for await (const chunk of createBlobFolder(join(root, manifest.orchestrator)).read(summary))
    chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  const path = join(folder, 'thoughts', 'shared', 'handoffs', handoffName(manifest.orchestrator, summary));
  try {
    if ((await ifPresent(readText(path))) === text) return { state: 'same', path };
    await writeFileAtomically(path, text);
    return { state: 'written', path };
  } catch (error) {
    // The run is archived, whether or not the copy works.
    if (systemErrorCode(error) === undefined || !(error instanceof Error)) throw error;
    return { state: 'not-written', reason: error.message };
  }
}
