// Compressed bytes of which any part can be read without the rest: independent zstd frames of 1 MiB each, and at the
// end a table of their sizes in a frame that unpackers skip. That is the published "seekable format" of zstd:
// `zstd -d` gives the original back too.
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

export const BLOCK_BYTES = 1024 * 1024;
const SKIPPABLE = 0x184d2a5e;
const SEEKABLE = 0x8f92eab1;
const HEADER_BYTES = 8;
const ENTRY_BYTES = 8;
export const FOOTER_BYTES = 9;

export type Frame = {
  /** Where its bytes stand in the file. */
  at: number;
  packed: number;
  /** Of the original. */
  start: number;
  size: number;
};

export function packBlock(block: Buffer): Buffer {
  return zstdCompressSync(block, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
}

/** The original bytes; null when they cannot be had any more. */
export function unpackBlock(packed: Buffer, size: number): Buffer | null {
  try {
    const block = zstdDecompressSync(packed, { maxOutputLength: BLOCK_BYTES });
    return block.length === size ? block : null;
  } catch {
    return null;
  }
}

export function packTable(frames: readonly Pick<Frame, 'packed' | 'size'>[]): Buffer {
  const table = Buffer.alloc(HEADER_BYTES + frames.length * ENTRY_BYTES + FOOTER_BYTES);
  table.writeUInt32LE(SKIPPABLE, 0);
  table.writeUInt32LE(table.length - HEADER_BYTES, 4);
  for (const [number, { packed, size }] of frames.entries()) {
    table.writeUInt32LE(packed, HEADER_BYTES + number * ENTRY_BYTES);
    table.writeUInt32LE(size, HEADER_BYTES + number * ENTRY_BYTES + 4);
  }
  table.writeUInt32LE(frames.length, table.length - FOOTER_BYTES);
  table.writeUInt32LE(SEEKABLE, table.length - 4);
  return table;
}

/** How long the table is that this footer ends; null when it is no footer of ours. */
export function tableBytes(footer: Buffer): number | null {
  if (footer.length !== FOOTER_BYTES || footer.readUInt32LE(5) !== SEEKABLE || footer[4] !== 0) return null;
  return HEADER_BYTES + footer.readUInt32LE(0) * ENTRY_BYTES + FOOTER_BYTES;
}

/** The frames of a file of that size, in order; null when the table does not fit it. */
export function unpackTable(table: Buffer, fileSize: number): Frame[] | null {
  if (table.length < HEADER_BYTES + FOOTER_BYTES || table.readUInt32LE(0) !== SKIPPABLE) return null;
  const frames: Frame[] = [];
  let at = 0;
  let start = 0;
  for (let entry = HEADER_BYTES; entry < table.length - FOOTER_BYTES; entry += ENTRY_BYTES) {
    const packed = table.readUInt32LE(entry);
    const size = table.readUInt32LE(entry + 4);
    // All but the last are of the same length, so that the frame of a byte is found by division.
    const isLast = entry + ENTRY_BYTES === table.length - FOOTER_BYTES;
    if (size === 0 || size > BLOCK_BYTES || (size < BLOCK_BYTES && !isLast)) return null;
    frames.push({ at, packed, start, size });
    at += packed;
    start += size;
  }
  return at + table.length === fileSize ? frames : null;
}
