// The manifest of one archive on the disk. Its checksum is in the index, so the two can be compared.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { readText } from '@svc/lib/paths';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import { ArchiveManifest } from '../manifest.ts';

const MAX_BYTES = 256 * 1024 * 1024;
export const MANIFEST_NAME = 'manifest.json';

const problems: Readonly<Record<string, string>> = {
  EFBIG: 'is too large',
  EISDIR: 'is not a regular file',
  ENXIO: 'is not a regular file',
  ELOOP: 'is a link',
};

export type ManifestReading =
  | { state: 'ok'; manifest: ArchiveManifest; sha256: string }
  | { state: 'missing' }
  | { state: 'damaged'; problem: string };

export async function readManifest(root: string, orchestrator: string): Promise<ManifestReading> {
  let text: string;
  try {
    text = await readText(join(root, orchestrator, MANIFEST_NAME), { most: MAX_BYTES, links: 'keep' });
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'missing' };
    return { state: 'damaged', problem: problems[code] ?? `cannot be read (${code})` };
  }
  return parseManifest(text, orchestrator);
}

function parseManifest(text: string, orchestrator: string): ManifestReading {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return { state: 'damaged', problem: 'is not JSON' };
  }
  const parsed = ArchiveManifest.safeParse(data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { state: 'damaged', problem: `${issue?.path.join('.')}: ${issue?.message}` };
  }
  if (parsed.data.orchestrator !== orchestrator)
    return { state: 'damaged', problem: `names another run, ${JSON.stringify(parsed.data.orchestrator)}` };
  return { state: 'ok', manifest: parsed.data, sha256: sha256Of(text) };
}

/** Replaces it; returns its checksum. From here on the archive is the new one. */
export async function writeManifest(root: string, manifest: ArchiveManifest): Promise<string> {
  const text = `${JSON.stringify(manifest, null, 1)}\n`;
  await writeFileAtomically(join(root, manifest.orchestrator, MANIFEST_NAME), text, {
    mode: 0o600,
    folderMode: 0o700,
  });
  return sha256Of(text);
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
