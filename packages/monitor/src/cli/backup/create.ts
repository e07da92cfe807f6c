// Makes a backup: one compressed tar file, its manifest last, under its name only when it is whole.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, open, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { BACKUP_MANIFEST, type BackupFile, type BackupManifest, isBackupPath } from '@svc/core';
import { syncFolder } from '../../disk/atomic-write.ts';
import { Failure, systemErrorCode } from '../../errors.ts';
import type { Places } from './places.ts';
import { type LeftOut, sourceFiles } from './source-files.ts';
import { tarEnd, tarHeader, tarPadding } from './tar-write.ts';

export type CreatedBackup = { file: string; bytes: number; manifest: BackupManifest; skipped: string[] };

export async function createBackup(options: {
  to: string;
  places: Places;
  withSecrets: boolean;
  withEvents: boolean;
  svcVersion: string;
  projects: string[];
  now: Date;
}): Promise<CreatedBackup> {
  const { to, places, withSecrets, withEvents, svcVersion, projects, now } = options;
  const partial = `${to}.${process.pid}.partial`;
  const seconds = Math.floor(now.getTime() / 1000);
  const leftOut: LeftOut[] = [];
  const files: BackupFile[] = [];
  const skipped: string[] = [];
  const manifestOf = (): BackupManifest => ({
    format: 'svc-backup',
    version: 1,
    madeAt: now.toISOString(),
    svcVersion,
    hostName: hostname(),
    withSecrets,
    leftOut,
    withEvents,
    archiveRoot: places.archive,
    projects,
    files,
  });

  async function* tar(): AsyncGenerator<Buffer> {
    for await (const { path, size, mode, bytes } of sourceFiles({
      places,
      withSecrets,
      withEvents,
      leftOut,
    })) {
      if (!isBackupPath(path)) {
        skipped.push(path);
        continue;
      }
      const hash = createHash('sha256');
      yield tarHeader({ path, size, mode, seconds });
      for await (const piece of bytes) {
        hash.update(piece);
        yield piece;
      }
      yield tarPadding(size);
      files.push({ path, size, sha256: hash.digest('hex') });
    }
    const manifest = Buffer.from(`${JSON.stringify(manifestOf(), null, 1)}\n`);
    yield tarHeader({ path: BACKUP_MANIFEST, size: manifest.length, mode: 0o600, seconds });
    yield manifest;
    yield tarPadding(manifest.length);
    yield tarEnd;
  }

  try {
    await pipeline(tar, createGzip(), createWriteStream(partial, { mode: 0o600, flags: 'wx' }));
    const bytes = await makeDurable(partial);
    // Unlike a rename, this never replaces a file that is there.
    await link(partial, to);
    await syncFolder(dirname(to));
    return { file: to, bytes, manifest: manifestOf(), skipped };
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined || error instanceof Failure) throw error;
    const why = code === 'EEXIST' ? `${to} is there already` : (error as Error).message;
    throw new Failure('file-unusable', `The backup was not made: ${why}.`, 'Name another file: --to <file>');
  } finally {
    await rm(partial, { force: true });
  }
}

async function makeDurable(path: string): Promise<number> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}
