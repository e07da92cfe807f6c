// One daemon per data root. Whoever holds the kernel's lock on daemon.lock is the daemon; the lock dies with
// its process, so that neither kill -9 nor a reused pid leaves anything to judge. daemon.json tells where the
// holder answers. Only the holder writes it, and it is only a hint: it can outlive its process.
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DaemonRecord } from '@svc/core';
import { listenerOf } from '../access/socket-table.ts';
import { writeFileAtomically } from '../disk/atomic-write.ts';
import { isHeldNow, tryHold } from '../disk/lock.ts';
import { Failure, systemErrorCode } from '../errors.ts';

export type Instance = {
  /** Writes daemon.json. */
  announce: (record: DaemonRecord) => Promise<void>;
  /** Removes daemon.json and lets the lock go. */
  withdraw: () => void;
};

/** Becomes the daemon of the data root, or returns undefined while another process is. */
export function claimInstance(dataDir: string): Instance | undefined {
  const hold = usable(dataDir, () => tryHold(lockFile(dataDir)));
  if (hold === undefined) return undefined;
  const record = recordFile(dataDir);
  // What is left of a killed daemon goes at once: from here on the record is the holder's.
  rmSync(record, { force: true });
  return {
    async announce(said) {
      const text = `${JSON.stringify(said, null, 2)}\n`;
      await writeFileAtomically(record, text, { mode: 0o600, folderMode: 0o700 }).catch((error: unknown) => {
        throw unusable(dataDir, error);
      });
    },
    withdraw() {
      rmSync(record, { force: true });
      hold.release();
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
