// The bytes of a month of the log, plain (`2026-01.jsonl`) or compressed (`2026-01.jsonl.zst`). A place in the log
// names the plain file and a byte of it, also when only the compressed one is left: readers see no difference.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, systemErrorCode } from '../errors.ts';
import {
  BLOCK_BYTES,
  FOOTER_BYTES,
  type Frame,
  tableBytes,
  unpackBlock,
  unpackTable,
} from './seekable-zstd.ts';

export const COMPRESSED_SUFFIX = '.zst';

export type MonthBytes = {
  /** Grows while the month is written. */
  size: () => number;
  /** Like `readSync`: how many bytes were read, 0 at the end. */
  read: (target: Buffer, start: number, length: number, position: number) => number;
  close: () => void;
};

/** Null when the month is not there. Where both are there, a compression was cut off: the plain one counts. */
export function openMonth(folder: string, file: string): MonthBytes | null {
  const plain = openIfThere(join(folder, file));
  return plain === null ? openCompressedMonth(folder, file) : plainBytes(plain);
}

export function openCompressedMonth(folder: string, file: string): MonthBytes | null {
  return openCompressed(join(folder, file + COMPRESSED_SUFFIX));
}

function plainBytes(descriptor: number): MonthBytes {
  return {
    size: () => fstatSync(descriptor).size,
    read: (target, start, length, position) => readSync(descriptor, target, start, length, position),
    close: () => closeSync(descriptor),
  };
}

/** Null when it is not there; a failure when its table is damaged. */
export function openCompressed(path: string): MonthBytes | null {
  const descriptor = openIfThere(path);
  if (descriptor === null) return null;
  const frames = readTable(descriptor);
  if (frames === null) {
    closeSync(descriptor);
    throw new Failure(
      'file-unusable',
      `${path} is damaged: its table of blocks cannot be read.`,
      'Put a copy of it from a backup in its place, or move it out of the folder.',
    );
  }
  return compressedBytes(descriptor, frames);
}

function compressedBytes(descriptor: number, frames: readonly Frame[]): MonthBytes {
  const last = frames.at(-1);
  const size = last === undefined ? 0 : last.start + last.size;
  let held: { number: number; block: Buffer } | null = null;

  function blockOf(number: number): Buffer {
    if (held?.number === number) return held.block;
    const frame = frames[number];
    if (frame === undefined) return Buffer.alloc(0);
    const packed = Buffer.allocUnsafe(frame.packed);
    const bytes = readSync(descriptor, packed, 0, frame.packed, frame.at);
    // Of a damaged block nothing is left: zeros are no line, so that readers pass over them and tell.
    const block = unpackBlock(packed.subarray(0, bytes), frame.size) ?? Buffer.alloc(frame.size);
    held = { number, block };
    return block;
  }

  return {
    size: () => size,
    read(target, start, length, position) {
      const end = Math.min(position + length, size);
      let at = position;
      while (at < end) {
        const number = Math.floor(at / BLOCK_BYTES);
        const from = at - number * BLOCK_BYTES;
        at += blockOf(number).copy(target, start + at - position, from, from + end - at);
      }
      return Math.max(0, at - position);
    },
    close: () => closeSync(descriptor),
  };
}

function readTable(descriptor: number): Frame[] | null {
  const { size } = fstatSync(descriptor);
  if (size < FOOTER_BYTES) return null;
  const footer = Buffer.alloc(FOOTER_BYTES);
  readSync(descriptor, footer, 0, FOOTER_BYTES, size - FOOTER_BYTES);
  const length = tableBytes(footer);
  if (length === null || length > size) return null;
  const table = Buffer.alloc(length);
  readSync(descriptor, table, 0, length, size - length);
  return unpackTable(table, size);
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
