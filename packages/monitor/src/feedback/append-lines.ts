// Adds whole lines to a file in one write at its end. A torn last line, which a crash or a full disk left behind,
// is closed first, so that it does not swallow the next one.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../disk/atomic-write.ts';
import { Failure } from '../errors.ts';

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const LINE_BREAK = 0x0a;

/** The lines survive a power cut when this resolves. `text` ends with a line break. */
export async function appendLines(file: string, text: string): Promise<void> {
  const handle = await open(file, FLAGS, 0o600);
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.from((await isTorn(handle, size)) ? `\n${text}` : text);
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten < bytes.length)
      throw new Failure(
        'file-unusable',
        `${file} took ${bytesWritten} of ${bytes.length} bytes.`,
        'Free disk space, then add the finding again.',
      );
    await handle.datasync();
    if (size === 0) await syncFolder(dirname(file));
  } finally {
    await handle.close();
  }
}

async function isTorn(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== LINE_BREAK;
}
