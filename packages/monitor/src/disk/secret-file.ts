// A file that holds one secret: mode 600 in a folder of mode 700, replaced atomically.

import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { syncFolder, writeFileAtomically } from './atomic-write.ts';

/** The secret, or undefined when there is none. */
export async function readSecretFile(path: string): Promise<string | undefined> {
  const secret = (await ifPresent(readFile(path, 'utf8')))?.trim();
  return secret === '' ? undefined : secret;
}

export async function writeSecretFile(path: string, secret: string): Promise<void> {
  await writeFileAtomically(path, `${secret}\n`, { mode: 0o600, folderMode: 0o700 });
}

/** False when it did not exist. */
export async function removeSecretFile(path: string): Promise<boolean> {
  try {
    await rm(path);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
  await syncFolder(dirname(path));
  return true;
}
