// One daemon per data root. The process that holds the kernel's lock on daemon.lock is the daemon; the lock is released
// when its process ends, so neither kill -9 nor a reused pid can mislead. daemon.json contains the holder's address.
// Only the holder writes it, and it is only a hint: it can outlive its process.
// A lock file that was removed locks nothing: the holder checks it, and takes it again or exits.
import { closeSync, openSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import { lookNow } from '@svc/lib/paths';
import { writeFileAtomically } from '../disk/atomic-write.ts';
import { type Hold, tryHold } from '../disk/lock.ts';
import { isDamage, isNotOpened } from '../disk/sqlite.ts';
import { Failure } from '../failure.ts';
import { type DaemonRecord, lockFile, recordFile, unusable, usable } from './daemon-record.ts';

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
