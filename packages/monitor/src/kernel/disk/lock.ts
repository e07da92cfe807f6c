// A lock between processes that ends with its holder: an open write transaction on an empty SQLite file. The kernel
// releases it when the process ends, however it ends, so there are no stale locks.
import { basename, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../failure.ts';
import { ensurePrivateFile } from './private-file.ts';

const BUSY = 5;

export type FileLocks = { withLock: <T>(path: string, work: () => Promise<T>) => Promise<T> };

/** Locks by path. The lock files are in `folder`, never beside the files that they guard. */
export function createFileLocks({
  folder,
  timeoutMs = 10_000,
}: {
  folder: string;
  timeoutMs?: number;
}): FileLocks {
  return {
    async withLock(path, work) {
      const lock = openLock(join(folder, lockName(path)));
      try {
        await acquire(lock, path, timeoutMs);
        return await work();
      } finally {
        lock.close();
      }
    },
  };
}

export type Hold = { release: () => void };

/**
 * Takes the lock file itself, without waiting; undefined while another process or hold has it.
 * Keep a reference to the hold until `release`: the garbage collector would release the lock with it.
 */
export function tryHold(path: string): Hold | undefined {
  const lock = openLock(path);
  try {
    if (tryLock(lock, 'EXCLUSIVE')) return { release: () => lock.close() };
  } catch (error) {
    lock.close();
    throw error;
  }
  lock.close();
  return undefined;
}

/** Whether the lock file is held by `tryHold`. Concurrent checks do not affect each other. */
export function isHeldNow(path: string): boolean {
  const lock = new DatabaseSync(path, { timeout: 0, readOnly: true });
  try {
    lock.exec('SELECT 1 FROM sqlite_master');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    lock.close();
  }
}

function lockName(path: string): string {
  // Loaded here, because most commands take no lock.
  const { hash: hashOf } = process.getBuiltinModule('node:crypto');
  const hash = hashOf('sha256', resolve(path), 'hex').slice(0, 16);
  return `${basename(path)}-${hash}.lock`;
}

async function acquire(lock: DatabaseSync, path: string, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let wait = 2; !tryLock(lock); wait = Math.min(wait * 1.5, 40)) {
    if (performance.now() > deadline) {
      const seconds = Math.round(timeoutMs / 1000);
      throw new Failure(
        'file-busy',
        `Another process has been changing ${path} for ${seconds} s.`,
        'Try again when it has finished.',
      );
    }
    await sleep(wait * (0.5 + Math.random()));
  }
}

function openLock(path: string): DatabaseSync {
  ensurePrivateFile(path);
  return new DatabaseSync(path, { timeout: 0 });
}

/**
 * Without a journal on disk: nothing is ever written, and a killed holder leaves no file. An exclusive lock prevents even
 * reading.
 */
function tryLock(lock: DatabaseSync, kind: 'IMMEDIATE' | 'EXCLUSIVE' = 'IMMEDIATE'): boolean {
  try {
    lock.exec(`PRAGMA journal_mode = MEMORY; BEGIN ${kind}`);
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === BUSY;
}
