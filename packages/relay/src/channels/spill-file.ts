// The file of the spill, `spilled` in its folder. A record: the length of the rest and its CRC-32; then the length of its
// head, the head (JSON), and the delivery as a stream would store it. Records are only appended, until all of them are
// stored and the file is emptied. An incomplete record at the end was not synced, so it was never acknowledged; a copy
// of the file is kept as `spilled.torn`, in case the disk is at fault.
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { copyFile, mkdir, open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Logger } from 'pino';
import type { Delivery } from '../engine/engine.ts';
import { decodeFrame, encodeFrame } from '../protocol/frame.ts';

/** Where a record is, and when it was written. */
export type Entry = { offset: number; length: number; at: number };
type Head = { channelId: string; messageId: string; batch: number; at: number };

const PREFIX_BYTES = 8;
const LENGTH_BYTES = 4;
const LARGEST_RECORD = 32 * 1024 * 1024;
const SQLITE_BUSY = 5;

/** Refuses a folder that another process uses. */
export async function openSpillFile(
  folder: string,
  logger: Pick<Logger, 'warn'>,
  openFile: typeof open = open,
) {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = lockFolder(folder);
  const path = join(folder, 'spilled');
  const file = await openFile(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  await syncNames(resolve(folder), dirname(resolve(made ?? folder)));
  let end = 0;

  async function bytesAt(offset: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; ) {
      const { bytesRead } = await file.read(bytes, at, length - at, offset + at);
      if (bytesRead === 0) throw new Error(`${path} ends before byte ${offset + length}`);
      at += bytesRead;
    }
    return bytes;
  }

  /** Undefined if there is no complete record. */
  async function recordAt(offset: number, size: number): Promise<Buffer | undefined> {
    if (offset + PREFIX_BYTES > size) return undefined;
    const prefix = await bytesAt(offset, PREFIX_BYTES);
    const length = prefix.readUInt32BE(0);
    if (length < LENGTH_BYTES || length > LARGEST_RECORD || offset + PREFIX_BYTES + length > size)
      return undefined;
    const rest = await bytesAt(offset + PREFIX_BYTES, length);
    return crc32(rest) === prefix.readUInt32BE(4) ? rest : undefined;
  }

  async function load() {
    const { size } = await file.stat();
    const found: (Head & { entry: Entry })[] = [];
    for (let rest; (rest = await recordAt(end, size)) !== undefined; ) {
      const length = PREFIX_BYTES + rest.length;
      const head = headIn(rest);
      found.push({ ...head, entry: { offset: end, length, at: head.at } });
      end += length;
    }
    if (end < size) {
      await copyFile(path, `${path}.torn`);
      logger.warn(
        { bytes: size - end, copy: `${path}.torn` },
        'removed the torn end of the spill, which was never acknowledged',
      );
      await file.truncate(end);
      await file.datasync();
    }
    return found;
  }

  return {
    found: await load(),
    size: () => end,
    /** Resolves when they would survive a power cut. */
    async append(posts: readonly (Head & { delivery: Delivery })[]): Promise<Entry[]> {
      const records = posts.map(encodeRecord);
      const bytes = Buffer.concat(records);
      for (let at = 0; at < bytes.length; )
        at += (await file.write(bytes, at, bytes.length - at, end + at)).bytesWritten;
      await file.datasync();
      return records.map(({ length }, index) => {
        const entry = { offset: end, length, at: posts[index]?.at ?? 0 };
        end += length;
        return entry;
      });
    },
    async read({ offset, length }: Entry): Promise<Head & { delivery: Delivery }> {
      const rest = await recordAt(offset, offset + length);
      const frame = rest === undefined ? undefined : decodeFrame(rest.subarray(headEnd(rest)));
      if (rest === undefined || frame === undefined) throw new Error(`${path} is damaged at byte ${offset}`);
      const { headers, query, receivedAt, body } = frame;
      return { ...headIn(rest), delivery: { headers, query, receivedAt, body } };
    },
    async empty(): Promise<void> {
      await file.truncate(0);
      end = 0;
    },
    async close(): Promise<void> {
      await file.close();
      lock.close();
    },
  };
}

function encodeRecord({ channelId, messageId, batch, at, delivery }: Head & { delivery: Delivery }): Buffer {
  const head = Buffer.from(JSON.stringify({ channelId, messageId, batch, at }));
  const frame = encodeFrame(delivery);
  const record = Buffer.allocUnsafe(PREFIX_BYTES + LENGTH_BYTES + head.length + frame.length);
  record.writeUInt32BE(record.length - PREFIX_BYTES, 0);
  record.writeUInt32BE(head.length, PREFIX_BYTES);
  head.copy(record, PREFIX_BYTES + LENGTH_BYTES);
  frame.copy(record, PREFIX_BYTES + LENGTH_BYTES + head.length);
  record.writeUInt32BE(crc32(record.subarray(PREFIX_BYTES)), 4);
  return record;
}

const headEnd = (rest: Buffer): number => LENGTH_BYTES + rest.readUInt32BE(0);

const headIn = (rest: Buffer): Head => JSON.parse(rest.toString('utf8', LENGTH_BYTES, headEnd(rest)));

/** Syncs the folders from the inner to the outer, so the names of files and folders survive a power cut. */
async function syncNames(inner: string, outer: string): Promise<void> {
  const handle = await open(inner, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (inner !== outer) await syncNames(dirname(inner), outer);
}

/** The kernel releases the lock when the process ends. The result must stay referenced until then. */
function lockFolder(folder: string): DatabaseSync {
  const path = join(folder, 'lock');
  // Not opened if it exists: closing it would release a lock that this process holds.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY)
      throw new Error('another relay process uses it', { cause: error });
    throw error;
  }
}
