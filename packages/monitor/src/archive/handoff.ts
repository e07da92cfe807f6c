// `syncToThoughts`: copies the summary of an archived run to where the next person or agent looks for it.

import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { type ArchiveManifest, handoffName, summaryOf } from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { writeFileAtomically } from '../disk/atomic-write.ts';
import { createBlobFolder } from './blobs.ts';

/** A summary is for people: a longer one is not copied. */
const MAX_BYTES = 16 * 1024 * 1024;

export type Handoff =
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
  const folder = (await isFolder(manifest.project)) ? manifest.project : project;
  if (folder === undefined || folder === null)
    return { state: 'not-written', reason: 'its project folder is not known' };
  const chunks: Buffer[] = [];
  for await (const chunk of createBlobFolder(join(root, manifest.orchestrator)).read(summary))
    chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  const path = join(folder, 'thoughts', 'shared', 'handoffs', handoffName(manifest.orchestrator, summary));
  try {
    if ((await ifPresent(readFile(path, 'utf8'))) === text) return { state: 'same', path };
    await writeFileAtomically(path, text);
    return { state: 'written', path };
  } catch (error) {
    // The run is archived, whether or not the copy works.
    if (systemErrorCode(error) === undefined || !(error instanceof Error)) throw error;
    return { state: 'not-written', reason: error.message };
  }
}

async function isFolder(path: string | null): Promise<boolean> {
  if (path === null || !isAbsolute(path)) return false;
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return false;
  }
}
