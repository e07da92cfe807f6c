// The daemon's own log file as a destination for the logger. At 10 MiB it becomes monitor.log.1, and the one
// before that goes. Only the daemon that holds the data root writes and rotates. Each line is written at
// once, so that a crash loses none; a full disk loses lines, which are counted, and never the daemon.
import {
  closeSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../errors.ts';

const MAX_BYTES = 10 * 1024 * 1024;
const CHECK_EVERY_MS = 60_000;

export type LogFile = { write: (line: string) => void; close: () => void };

export function logFileOf(dataDir: string): string {
  return join(dataDir, 'logs', 'monitor.log');
}

export function rotatedFile(path: string): string {
  return `${path}.1`;
}

export function openLogFile(path: string, now: () => Date, maxBytes = MAX_BYTES): LogFile {
  let file = openToAppend(path);
  let checkAt = 0;
  let lost = 0;

  const reopen = () => {
    const next = openToAppend(path);
    closeSync(file.fd);
    file = next;
  };
  const check = (time: number) => {
    checkAt = time + CHECK_EVERY_MS;
    // Somebody may have moved the file away or emptied it.
    if (inodeOf(path) !== file.inode) return reopen();
    file.size = fstatSync(file.fd).size;
    if (file.size < maxBytes) return;
    renameSync(path, rotatedFile(path));
    reopen();
  };
  const append = (line: string) => {
    const text = lost === 0 ? line : `${lostLine(now(), lost)}\n${line}`;
    file.size += writeSync(file.fd, text);
  };

  return {
    write(line) {
      const time = now().getTime();
      // A log that cannot be rotated grows on: better long than silent.
      if (time >= checkAt || file.size >= maxBytes) succeeds(() => check(time));
      lost = succeeds(() => append(line)) ? 0 : lost + 1;
    },
    close: () => closeSync(file.fd),
  };
}

function succeeds(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return false;
  }
}

/** Opens the log for appending, readable by its owner alone. */
export function openToAppend(path: string): { fd: number; inode: number; size: number } {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fd = openSync(path, 'a+', 0o600);
  const stats = fstatSync(fd);
  if (stats.isFile() && (stats.mode & 0o077) !== 0) fchmodSync(fd, 0o600);
  return { fd, inode: stats.ino, size: stats.size };
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** In the shape of the logger's lines, level warn. */
function lostLine(time: Date, lost: number): string {
  return JSON.stringify({ level: 40, time: time.toISOString(), lost, msg: 'log lines could not be written' });
}
