// A disk that fills up: a small file system in memory, with a ballast file in it that can be removed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MIB = 1024 * 1024;

export type SmallDisk = {
  folder: string;
  /** Uses up space, so that this much is left. */
  leave: (mebibytes: number) => void;
  /** Uses up all space. */
  fill: () => void;
  makeRoom: () => void;
  unmount: () => void;
};

/** The reason, if this machine does not allow it: mounting needs root. */
export function mountSmallDisk(folder: string, mebibytes: number): SmallDisk | string {
  mkdirSync(folder, { recursive: true });
  const options = ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=700`, 'svc-small-disk', folder];
  const { status, stderr, error } = spawnSync('/bin/mount', options, { encoding: 'utf8' });
  if (status !== 0) return error?.message ?? stderr.trim();
  const ballast = join(folder, 'ballast');
  let mounted = true;
  const unmount = (): void => {
    if (!mounted) return;
    mounted = spawnSync('/bin/umount', ['--lazy', folder]).status !== 0;
  };
  // Before the folder is removed: that fails for what is mounted, and then nothing else is cleaned up.
  process.prependOnceListener('exit', unmount);
  return {
    folder,
    leave: (left) => writeFileSync(ballast, Buffer.alloc(Math.round((mebibytes - left) * MIB))),
    fill() {
      for (let bytes = mebibytes * MIB; bytes >= 1; bytes = Math.floor(bytes / 2)) {
        while (canAppend(ballast, bytes));
      }
    },
    makeRoom: () => rmSync(ballast, { force: true }),
    unmount,
  };
}

/** A write on a full disk may keep a part: that is fine, because the disk is full then. */
function canAppend(file: string, bytes: number): boolean {
  try {
    writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' });
    return true;
  } catch {
    return false;
  }
}
