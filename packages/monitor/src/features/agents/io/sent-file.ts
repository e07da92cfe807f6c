// The file of what svc has sent to an agent. Its lines name the person who answered, and an agent runs as the same user: a
// line that it appended itself must not become an answer of that person. So svc notes beside the file what it has written
// and is about to write, before it writes it. Anything else in the file was written by another program, and does not count.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { type Fields, jsonIn } from '@svc/contract/payload-fields';
import { ifPresent } from '@svc/lib/files';
import { openFile, readStart, stat } from '@svc/lib/paths';
import { z } from 'zod';
import { readJsonFile } from '../../../kernel/config/read-json.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import { withoutImageData } from '../messages.ts';

const appending = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** More than all images of a ticket. The agent can write as much as it likes; svc writes no more: the session continues in a new one. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The digest is of the first `size` bytes; `next` is what may follow them. */
const Written = z.object({
  inode: z.int(),
  size: z.int().nonnegative(),
  digest: z.string(),
  next: z.string(),
});

type Sent = {
  /** Without the data of images. */
  messages: Fields[];
  lines: number;
  /** Another program has written to the file, or replaced it. */
  isForeign: boolean;
};

export type SentFile = Sent & {
  /** Whether another line still fits. */
  hasRoom: (line: string) => boolean;
  /** Durable when it resolves. */
  append: (line: string) => Promise<void>;
  /** Whether another program has written to the file, or replaced it, until now. */
  look: () => Promise<boolean>;
  close: () => Promise<void>;
};

const noteOf = (path: string): string => `${path}.written`;
const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** For a session whose process is gone. */
export async function readSent(path: string): Promise<Sent> {
  const handle = await openFile(path, { flags: reading });
  try {
    return await readFrom(handle, path);
  } finally {
    await handle.close();
  }
}

export async function openSent(path: string): Promise<SentFile> {
  const handle = await openFile(path, { flags: appending, mode: 0o600 });
  const { bytes, inode, isTorn, ...sent } = await readFrom(handle, path);
  const hash = createHash('sha256').update(bytes);
  let size = bytes.length;
  let pending = 0;
  let { isForeign } = sent;

  async function append(text: string): Promise<void> {
    const written = { inode, size, digest: hash.copy().digest('hex'), next: text };
    await writeFileAtomically(noteOf(path), JSON.stringify(written), { mode: 0o600 });
    pending = Buffer.byteLength(text);
    await handle.appendFile(text);
    await handle.datasync();
    hash.update(text);
    size += pending;
    pending = 0;
  }

  if (isTorn && !isForeign) await append('\n');
  return {
    ...sent,
    // One byte is left for the end of a line that is cut off.
    hasRoom: (line) => size + Buffer.byteLength(line) < MOST_BYTES,
    append,
    async look() {
      const least = size;
      const found = await ifPresent(stat(path));
      isForeign ||= found?.ino !== inode || found.size < least || found.size > size + pending;
      return isForeign;
    },
    close: () => handle.close(),
  };
}

/** A line that was cut off by a crash was never read as one: its content is sent again. */
async function readFrom(
  handle: FileHandle,
  path: string,
): Promise<Sent & { bytes: Buffer; inode: number; isTorn: boolean }> {
  const { ino: inode, size } = await handle.stat();
  const bytes = await readStart(path, handle, MOST_BYTES);
  const own = await ownPart(bytes, inode, path);
  const lines = own.toString('utf8').split('\n').filter(Boolean);
  const messages = lines
    .map(jsonIn)
    .filter((message) => message !== undefined)
    .map(withoutImageData);
  const isTorn = bytes.length > 0 && bytes.at(-1) !== 0x0a;
  const isForeign = own.length < Math.max(size, bytes.length);
  return { bytes, inode, isTorn, messages, lines: lines.length, isForeign };
}

/**
 * The bytes that svc has written. The note is durable before the first of them, so without a note nothing shows that they are
 * svc's: also not those of a version that kept none, whose session continues in a new one.
 */
async function ownPart(bytes: Buffer, inode: number, path: string): Promise<Buffer> {
  const read = await readJsonFile(noteOf(path));
  const parsed = read.state === 'read' ? Written.safeParse(read.data) : undefined;
  const nothing = bytes.subarray(0, 0);
  if (!parsed?.success || parsed.data.inode !== inode) return nothing;
  const { size, digest, next } = parsed.data;
  const before = bytes.subarray(0, size);
  if (before.length < size || digestOf(before) !== digest) return nothing;
  const rest = bytes.subarray(size).toString('utf8');
  if (next.startsWith(rest)) return bytes;
  const isNextThere = rest.startsWith(next);
  const more = isNextThere ? rest.slice(next.length) : rest;
  // Text that is no line and no message can do nothing.
  if (!more.includes('\n') && jsonIn(more) === undefined) return bytes;
  return isNextThere ? bytes.subarray(0, size + Buffer.byteLength(next)) : before;
}
