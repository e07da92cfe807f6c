// One daemon per data root. The process that holds the kernel's lock on daemon.lock is the daemon; the lock is released
// when its process ends, so neither kill -9 nor a reused pid can mislead. daemon.json contains the holder's address.
// Only the holder writes it, and it is only a hint: it can outlive its process.
// A lock file that was removed locks nothing: the holder checks it, and takes it again or exits.
import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DaemonRecord } from '@svc/core';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import { lookNow, readTextNow } from '@svc/lib/paths';
import { listenersOf } from '../access/socket-table.ts';
import { writeFileAtomically } from '../disk/atomic-write.ts';
import { type Hold, isHeldNow, tryHold } from '../disk/lock.ts';
import { isDamage, isNotOpened } from '../disk/sqlite.ts';
import { Failure } from '../errors.ts';

const ATTEMPTS = 5;

export type Instance = {
  /** Writes daemon.json. */
  announce: (record: DaemonRecord) => Promise<void>;
  /**
   * Takes the lock again if it was removed, and writes daemon.json again. `lost`: another process has taken the data
   * root meanwhile, and this one has to exit at once.
   */
  keep: () => Promise<'held' | 'lost'>;
  /** What happened to the data root since it was claimed; null if nothing did. */
  trouble: () => string | null;
  /** Removes daemon.json and releases the lock. */
  withdraw: () => void;
};

/** Becomes the daemon of the data root, or returns undefined while another process is. */
export function claimInstance(dataDir: string): Instance | undefined {
  let hold = usable(dataDir, () => holdOrName(lockFile(dataDir)));
  if (hold === undefined) return undefined;
  const record = recordFile(dataDir);
  // Removes the leftover record of a killed daemon: from here on the record is the holder's.
  try {
    rmSync(record, { force: true });
  } catch (error) {
    hold.release();
    throw fileInTheWay(record, 'cannot be replaced', error);
  }
  let claimed = identify(dataDir);
  let announced: DaemonRecord | undefined;
  let trouble: string | null = null;
  let lost = false;

  /** Whether the lock file is the one that is held. */
  function check(): boolean {
    const isRoot = idOf(dataDir) === claimed.root;
    const isLock = idOf(lockFile(dataDir)) === claimed.lock;
    const who = announced === undefined ? 'the daemon' : `the daemon (pid ${announced.pid})`;
    if (!isRoot)
      trouble = `the data root ${dataDir} was removed or replaced while ${who} was running; its contents are gone`;
    else if (!isLock) trouble = `${lockFile(dataDir)} was removed while ${who} held it`;
    return isLock;
  }

  async function announce(given: DaemonRecord): Promise<void> {
    announced = given;
    const text = `${JSON.stringify(given, null, 2)}\n`;
    await writeFileAtomically(record, text, { mode: 0o600, folderMode: 0o700 }).catch((error: unknown) => {
      throw unusable(dataDir, error);
    });
  }

  return {
    announce,
    async keep() {
      if (check()) return 'held';
      const again = await holdUnlessTaken(lockFile(dataDir));
      lost = again === undefined;
      if (lost) return 'lost';
      hold?.release();
      hold = again;
      claimed.close();
      claimed = identify(dataDir);
      if (announced !== undefined) await announce(announced);
      return 'held';
    },
    trouble() {
      check();
      return trouble;
    },
    withdraw() {
      try {
        if (!lost) rmSync(record, { force: true });
      } catch (error) {
        // It is only a hint, and the next start names what is in its place.
        if (systemErrorCode(error) === undefined) throw error;
      }
      claimed.close();
      hold?.release();
    },
  };
}

/** Whether a daemon holds the data root. A missing data root is not created. */
export function isHeld(dataDir: string): boolean {
  const file = lockFile(dataDir);
  return lookNow(file).state !== 'absent' && usable(dataDir, () => isHeldNow(file));
}

/** Whether the program that listens on the port may be our daemon, as far as the system knows. */
export async function isOurs(dataDir: string, port: number, token: string | undefined): Promise<boolean> {
  const users = await listenersOf(port);
  if (users === undefined) return true;
  // A daemon asks for a token because the socket table does not show users.
  return users.length === 0 ? token !== undefined : users.every((uid) => mayBeDaemon(dataDir, uid));
}

/** Who may listen as the daemon: the current user and root; if root asks, also the owner of the data root. */
function mayBeDaemon(dataDir: string, uid: number): boolean {
  const own = process.geteuid?.();
  if (uid === 0 || uid === own) return true;
  const look = lookNow(lockFile(dataDir));
  return own === 0 && look.state === 'present' && look.owner === uid;
}

/** SQLite says neither which file it cannot use, nor that it is no lock. */
function holdOrName(path: string): Hold | undefined {
  const unusableLock = (why: unknown): Failure =>
    fileInTheWay(path, 'cannot be used as the lock of the data root', why);
  const look = lookNow(path);
  if (look.state === 'present' && look.kind !== 'file') throw unusableLock(new Error(`it is a ${look.kind}`));
  try {
    return tryHold(path);
  } catch (error) {
    const isOfLock = isDamage(error) || isNotOpened(error) || systemErrorCode(error) === 'ELOOP';
    throw isOfLock ? unusableLock(error) : error;
  }
}

function fileInTheWay(path: string, what: string, error: unknown): Failure {
  return new Failure(
    'file-unusable',
    `${path} ${what}: ${messageOf(error)}.`,
    `If no daemon of this data root runs, remove it: rm -r ${path}`,
    { cause: error },
  );
}

/** A process that only checks the lock holds it for an instant; a daemon still holds it at the next try. */
async function holdUnlessTaken(path: string): Promise<Hold | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (attempt > 0) await sleep(5 + Math.random() * 10);
    const hold = tryHold(path);
    if (hold !== undefined) return hold;
  }
  return undefined;
}

/** The identity of the folder and the lock file. The folder stays open, so its inode number is not reused. */
function identify(dataDir: string): { root: string | null; lock: string | null; close: () => void } {
  const folder = openSync(dataDir, 'r');
  return { root: idOf(dataDir), lock: idOf(lockFile(dataDir)), close: () => closeSync(folder) };
}

function idOf(path: string): string | null {
  const look = lookNow(path);
  return look.state === 'present' ? look.inode : null;
}

/** The record, or undefined if there is no valid one. */
export function readRecord(dataDir: string): DaemonRecord | undefined {
  try {
    const { success, data } = DaemonRecord.safeParse(JSON.parse(readTextNow(recordFile(dataDir))));
    return success ? data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || systemErrorCode(error) !== undefined) return undefined;
    throw error;
  }
}

function lockFile(dataDir: string): string {
  return join(dataDir, 'daemon.lock');
}

function recordFile(dataDir: string): string {
  return join(dataDir, 'daemon.json');
}

/** Runs work that needs the data root; an unusable one is a failure with a remedy. */
export function usable<T>(dataDir: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unusable(dataDir, error);
  }
}

function unusable(dataDir: string, error: unknown): unknown {
  if (systemErrorCode(error) === undefined || error instanceof Failure) return error;
  return new Failure(
    'file-unusable',
    `The data root ${dataDir} cannot be used: ${(error as Error).message}.`,
    'Make it a folder that you own, on a disk with free space, or set SVC_DATA_DIR to another folder.',
  );
}
