// The content of archived files: one blob per content, named by its SHA-256. So the name of a run's file never becomes a
// name in the archive, and an existing blob is complete. Large ones are compressed.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { createFile, lstat, openFile, readdir, syncFolder } from '@svc/lib/paths';
import { makeFolder } from '../../../kernel/disk/private-file.ts';
import { type ArchivedFile, blobName } from '../manifest.ts';

/** Files of this size or more are compressed. */
const LARGE_BYTES = 64 * 1024;
const SHA256 = /^[0-9a-f]{64}(?:\.zst)?$/;

export type Bytes = AsyncIterable<Buffer> | Iterable<Buffer>;
export type StoredBlob = Pick<ArchivedFile, 'sha256' | 'size' | 'encoding' | 'storedSize'>;

/** A blob that is missing, or no longer returns its original content. */
export class BlobDamaged extends Error {
  readonly path: string;
  readonly kind: 'missing' | 'damaged';

  constructor(path: string, kind: 'missing' | 'damaged', options?: ErrorOptions) {
    super(`The archived content of ${path} is ${kind}.`, options);
    this.name = 'BlobDamaged';
    this.path = path;
    this.kind = kind;
  }
}

export type BlobFolder = ReturnType<typeof createBlobFolder>;

export function createBlobFolder(archive: string) {
  const folder = join(archive, 'blobs');
  let isMade = false;

  /** The content is on the disk when it returns; its name is when `sync` has returned. */
  async function write(content: Bytes, expectedSize: number): Promise<StoredBlob> {
    if (!isMade) makeFolder(folder, 0o700);
    isMade = true;
    const temporary = join(folder, `.${crypto.randomUUID()}.tmp`);
    const encoding = expectedSize >= LARGE_BYTES ? 'zstd' : 'identity';
    const handle = await createFile(temporary);
    try {
      const { sha256, size, storedSize } = await store(handle, content, encoding);
      await handle.sync();
      await rename(temporary, join(folder, blobName({ sha256, encoding })));
      return { sha256, size, encoding, storedSize };
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
  }

  /** The original content. Damage throws `BlobDamaged`, at the latest after the last byte. */
  async function* read(file: ArchivedFile): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    let size = 0;
    const damaged = (cause?: unknown) => new BlobDamaged(file.path, 'damaged', { cause });
    try {
      for await (const chunk of await openBlob(join(folder, blobName(file)), file)) {
        size += chunk.length;
        // A damaged blob may unpack to far more than its original size.
        if (size > file.size) throw damaged();
        hash.update(chunk);
        yield chunk;
      }
    } catch (error) {
      throw isUnpacking(error) ? damaged(error) : error;
    }
    if (size !== file.size || hash.digest('hex') !== file.sha256) throw damaged();
  }

  return {
    write,
    read,
    /** Whether a blob of that length exists: sufficient, because it was synced before it was named. */
    async holds(file: ArchivedFile): Promise<boolean> {
      const stats = await ifPresent(lstat(join(folder, blobName(file))));
      return stats !== undefined && stats.isFile() && stats.size === file.storedSize;
    },
    async check(file: ArchivedFile): Promise<'ok' | 'missing' | 'damaged'> {
      try {
        for await (const chunk of read(file)) void chunk;
        return 'ok';
      } catch (error) {
        if (error instanceof BlobDamaged) return error.kind;
        throw error;
      }
    },
    sync: async (): Promise<void> => {
      if (isMade) await syncFolder(folder);
    },
    /** Names in the folder that belong to none of these files. */
    async extra(files: readonly ArchivedFile[]): Promise<string[]> {
      const known = new Set(files.map(blobName));
      const names = (await ifPresent(readdir(folder))) ?? [];
      return names.filter((name) => !known.has(name));
    },
    /** Removes blobs and partly written ones that belong to none of these files. Anything else stays for a person to inspect. */
    async tidy(files: readonly ArchivedFile[]): Promise<void> {
      for (const name of await this.extra(files))
        if (SHA256.test(name) || (name.startsWith('.') && name.endsWith('.tmp')))
          await rm(join(folder, name), { force: true });
    },
  };
}

export async function hashOf(content: Bytes): Promise<{ sha256: string; size: number }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { sha256: hash.digest('hex'), size };
}

async function store(handle: FileHandle, content: Bytes, encoding: ArchivedFile['encoding']) {
  const hash = createHash('sha256');
  let size = 0;
  let storedSize = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  }
  const sink = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      await handle.writeFile(chunk);
      storedSize += chunk.length;
    }
  };
  if (encoding === 'zstd') await pipeline(counted, createZstdCompress(), sink);
  else await sink(counted());
  return { sha256: hash.digest('hex'), size, storedSize };
}

async function openBlob(path: string, file: ArchivedFile): Promise<AsyncIterable<Buffer>> {
  let handle: FileHandle;
  try {
    handle = await openFile(path, { flags: constants.O_RDONLY | constants.O_NOFOLLOW });
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') throw new BlobDamaged(file.path, 'missing');
    if (systemErrorCode(error) === 'ELOOP') throw new BlobDamaged(file.path, 'damaged');
    throw error;
  }
  const bytes = handle.createReadStream();
  if (file.encoding === 'identity') return bytes;
  const unpacked = createZstdDecompress();
  // A read failure ends the unpacking with the same failure.
  bytes.on('error', (error) => unpacked.destroy(error));
  unpacked.on('close', () => bytes.destroy());
  return Readable.from(bytes.pipe(unpacked));
}

/** The unpacker's failures have codes such as ZSTD_error_corruption_detected, or Z_BUF_ERROR for a truncated blob. */
function isUnpacking(error: unknown): boolean {
  return /^(?:ZSTD_|Z_|ERR_ZLIB|ERR__ERROR_)/.test(systemErrorCode(error) ?? '');
}
