// One daemon per data root. Whoever holds the kernel's lock on daemon.lock is the daemon; the lock dies with
// its process, so that neither kill -9 nor a reused pid leaves anything to judge. daemon.json tells where the
// holder answers. Only the holder writes it, and it is only a hint: it can outlive its process.
// A lock file that somebody removed locks nothing: the holder looks after it, and takes it again or ends.
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DaemonRecord } from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { listenerOf } from '../access/socket-table.ts';
import { writeFileAtomically } from '../disk/atomic-write.ts';
import { type Hold, isHeldNow, tryHold } from '../disk/lock.ts';
import { Failure } from '../errors.ts';

const LOOKS = 5;

export type Instance = {
  /** Writes daemon.json. */
  announce: (record: DaemonRecord) => Promise<void>;
  /**
   * Takes the lock again where it was removed, and writes daemon.json again. `lost`: another process has taken the
   * data root meanwhile, and this one has to end at once.
   */
  keep: () => Promise<'held' | 'lost'>;
  /** What happened to the data root since it was claimed; null when nothing did. */
  trouble: () => string | null;
  /** Removes daemon.json and lets the lock go. */
  withdraw: () => void;
};

/** Becomes the daemon of the data root, or returns undefined while another process is. */
export function claimInstance(dataDir: string): Instance | undefined {
  let hold = usable(dataDir, () => tryHold(lockFile(dataDir)));
  if (hold === undefined) return undefined;
  const record = recordFile(dataDir);
  // What is left of a killed daemon goes at once: from here on the record is the holder's.
  rmSync(record, { force: true });
  let claimed = lookAt(dataDir);
  let announced: DaemonRecord | undefined;
  let trouble: string | null = null;
  let lost = false;

  /** Whether the lock file is the one that is held. */
  function look(): boolean {
    const isRoot = idOf(dataDir) === claimed.root;
    const isLock = idOf(lockFile(dataDir)) === claimed.lock;
    const who = announced === undefined ? 'the daemon' : `the daemon (pid ${announced.pid})`;
    if (!isRoot)
      trouble = `the data root ${dataDir} was removed or replaced while ${who} ran: what was in it is not there any more`;
    else if (!isLock) trouble = `${lockFile(dataDir)} was removed while ${who} held it`;
    return isLock;
  }

  async function announce(said: DaemonRecord): Promise<void> {
    announced = said;
    const text = `${JSON.stringify(said, null, 2)}\n`;
    await writeFileAtomically(record, text, { mode: 0o600, folderMode: 0o700 }).catch((error: unknown) => {
      throw unusable(dataDir, error);
    });
  }

  return {
    announce,
    async keep() {
      if (look()) return 'held';
      const again = await holdUnlessTaken(lockFile(dataDir));
      lost = again === undefined;
      if (lost) return 'lost';
      hold?.release();
      hold = again;
      claimed.close();
      claimed = lookAt(dataDir);
      if (announced !== undefined) await announce(announced);
      return 'held';
    },
    trouble() {
      look();
      return trouble;
    },
    withdraw() {
      if (!lost) rmSync(record, { force: true });
      claimed.close();
      hold?.release();
    },
  };
}

/** Whether a daemon holds the data root. A data root that is not there is not made. */
export function isHeld(dataDir: string): boolean {
  const file = lockFile(dataDir);
  return existsSync(file) && usable(dataDir, () => isHeldNow(file));
}

/** Whether the program that listens may be a daemon of ours, as far as the system can say. */
export async function isOurs(dataDir: string, port: number, token: string | undefined): Promise<boolean> {
  const listener = await listenerOf(port);
  if (listener === 'no-table') return true;
  // A daemon that asks for a token does so because the table does not say who is who.
  return listener === undefined ? token !== undefined : mayBeDaemon(dataDir, listener.uid);
}

/** Who may listen as the daemon: the user who asks, and root; where root asks, also the owner of the data root. */
function mayBeDaemon(dataDir: string, uid: number): boolean {
  const own = process.geteuid?.();
  if (uid === 0 || uid === own) return true;
  return own === 0 && uid === statSync(lockFile(dataDir), { throwIfNoEntry: false })?.uid;
}

/** Somebody who looks at the lock is in the way for an instant; a daemon is there at the next try too. */
async function holdUnlessTaken(path: string): Promise<Hold | undefined> {
  for (let look = 0; look < LOOKS; look += 1) {
    if (look > 0) await sleep(5 + Math.random() * 10);
    const hold = tryHold(path);
    if (hold !== undefined) return hold;
  }
  return undefined;
}

/** Which folder and lock file stand there now. The folder stays open: its number is given to no other meanwhile. */
function lookAt(dataDir: string): { root: string | null; lock: string | null; close: () => void } {
  const folder = openSync(dataDir, 'r');
  return { root: idOf(dataDir), lock: idOf(lockFile(dataDir)), close: () => closeSync(folder) };
}

function idOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}

/** The hint, or undefined where there is none that makes sense. */
export function readRecord(dataDir: string): DaemonRecord | undefined {
  try {
    const { success, data } = DaemonRecord.safeParse(JSON.parse(readFileSync(recordFile(dataDir), 'utf8')));
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

/** Runs work that needs the data root; that it cannot be used is a failure with a remedy. */
export function usable<T>(dataDir: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unusable(dataDir, error);
  }
}

function unusable(dataDir: string, error: unknown): unknown {
  if (systemErrorCode(error) === undefined) return error;
  return new Failure(
    'file-unusable',
    `The data root ${dataDir} cannot be used: ${(error as Error).message}.`,
    'Make it a folder of your own with room on its disk, or name another with SVC_DATA_DIR.',
  );
}
