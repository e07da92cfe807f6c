// Compresses a month of the log in place, and unpacks it again. Both write beside, sync and rename before the other
// form goes: at any moment at least one whole form is there, and readers take the plain one first.
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolderNow } from '../disk/make-folder.ts';
import { Failure } from '../errors.ts';
import {
  COMPRESSED_SUFFIX,
  type MonthBytes,
  openCompressed,
  openCompressedMonth,
  openMonth,
} from './month-bytes.ts';
import { BLOCK_BYTES, packBlock, packTable } from './seekable-zstd.ts';

/** Only for a month that nobody writes to any more. Returns the sizes before and after. */
export function compressMonth(folder: string, file: string): { bytes: number; storedBytes: number } {
  const target = join(folder, file + COMPRESSED_SUFFIX);
  removeHalves(folder, file);
  const temporary = `${join(folder, `.${file}`)}.${crypto.randomUUID()}.tmp`;
  const plain = openMonth(folder, file);
  if (plain === null) throw new Failure('file-unusable', `${join(folder, file)} is not there.`);
  try {
    const storedBytes = writeFile(temporary, packed(plain));
    requireSame(plain, temporary);
    renameSync(temporary, target);
    syncFolderNow(folder);
    rmSync(join(folder, file), { force: true });
    syncFolderNow(folder);
    return { bytes: plain.size(), storedBytes };
  } finally {
    plain.close();
    rmSync(temporary, { force: true });
  }
}

/** Makes a compressed month plain again, so that it can be written to; nothing happens to a plain one. */
export function unpackMonth(folder: string, file: string): void {
  const compressed = openCompressedMonth(folder, file);
  if (compressed === null) return;
  const temporary = `${join(folder, `.${file}`)}.${crypto.randomUUID()}.tmp`;
  try {
    writeFile(temporary, blocks(compressed));
    renameSync(temporary, join(folder, file));
    syncFolderNow(folder);
    rmSync(join(folder, file + COMPRESSED_SUFFIX));
  } finally {
    compressed.close();
    rmSync(temporary, { force: true });
  }
}

function* packed(month: MonthBytes): Generator<Buffer> {
  const frames: { packed: number; size: number }[] = [];
  for (const block of blocks(month)) {
    const frame = packBlock(block);
    frames.push({ packed: frame.length, size: block.length });
    yield frame;
  }
  yield packTable(frames);
}

function* blocks(month: MonthBytes): Generator<Buffer> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  const size = month.size();
  for (let at = 0; at < size; ) {
    let length = 0;
    while (length < Math.min(BLOCK_BYTES, size - at)) {
      const bytes = month.read(block, length, Math.min(BLOCK_BYTES, size - at) - length, at + length);
      if (bytes === 0) throw new Failure('file-unusable', 'The month became shorter while it was read.');
      length += bytes;
    }
    at += length;
    yield block.subarray(0, length);
  }
}

function writeFile(path: string, parts: Iterable<Buffer>): number {
  const descriptor = openSync(path, 'wx', 0o600);
  let size = 0;
  try {
    for (const part of parts) {
      for (let done = 0; done < part.length; ) done += writeSync(descriptor, part, done);
      size += part.length;
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return size;
}

/** The plain form goes only when the other gives back every byte of it. */
function requireSame(plain: MonthBytes, path: string): void {
  const compressed = openCompressed(path);
  try {
    if (compressed !== null && hashOf(compressed) === hashOf(plain)) return;
  } finally {
    compressed?.close();
  }
  throw new Failure('file-unusable', `${path} does not give back what was written to it.`);
}

function hashOf(month: MonthBytes): string {
  const hash = createHash('sha256');
  for (const block of blocks(month)) hash.update(block);
  return hash.digest('hex');
}

/** What a compression that was cut off left behind. */
function removeHalves(folder: string, file: string): void {
  for (const name of readdirSync(folder))
    if (name.startsWith(`.${file}.`) && name.endsWith('.tmp')) rmSync(join(folder, name), { force: true });
}
