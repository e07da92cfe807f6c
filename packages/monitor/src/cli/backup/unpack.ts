// Unpacks a backup into an empty folder and holds it against its manifest. Nothing outside of that folder is
// touched, whatever the file says.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { BACKUP_MANIFEST, BackupManifest, backupDamage, isBackupPath } from '@svc/core';
import { Failure } from '../../errors.ts';
import { damaged, readTar, type TarEntry } from './tar-read.ts';

const LARGEST_MANIFEST = 512 * 1024 * 1024;

export async function unpackBackup(file: string, into: string): Promise<BackupManifest> {
  const packed = createReadStream(file);
  const plain = packed.pipe(createGunzip());
  packed.on('error', (error) => plain.destroy(error));
  const unpacked = new Map<string, { size: number; sha256: string }>();
  let manifest: BackupManifest | undefined;
  try {
    for await (const entry of readTar(plain)) {
      if (manifest !== undefined) throw damaged('something follows its manifest');
      if (entry.path === BACKUP_MANIFEST) manifest = await readManifest(entry);
      else if (!isBackupPath(entry.path))
        throw damaged(`${JSON.stringify(entry.path)} does not belong into one`);
      else if (unpacked.has(entry.path)) throw damaged(`${entry.path} is in it twice`);
      else unpacked.set(entry.path, await writeEntry(entry, join(into, entry.path)));
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw damaged(error instanceof Error ? error.message : String(error));
  } finally {
    packed.destroy();
    plain.destroy();
  }
  if (manifest === undefined) throw damaged('it has no manifest');
  const damage = backupDamage(manifest, unpacked);
  if (damage !== undefined) throw damaged(damage);
  return manifest;
}

async function readManifest(entry: TarEntry): Promise<BackupManifest> {
  if (entry.size > LARGEST_MANIFEST) throw damaged('its manifest is too large');
  const read = BackupManifest.safeParse(JSON.parse(await text(entry.bytes)));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw damaged(`its manifest has a wrong ${issue?.path.join('.') ?? 'shape'}; it may be of a newer svc`);
}

async function writeEntry({ bytes, size }: TarEntry, to: string): Promise<{ size: number; sha256: string }> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  const handle = await open(to, 'wx', 0o600);
  try {
    for await (const piece of bytes) {
      hash.update(piece);
      await handle.writeFile(piece);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { size, sha256: hash.digest('hex') };
}
