// The two files by which the daemon of a data root is found: the lock that it holds, and daemon.json with its address, which
// is only a hint. Every command reads them, so they are read without a schema.
import { join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { lookNow, readTextNow } from '@svc/lib/paths';
import { listenersOf } from '../access/socket-table.ts';
import { isHeldNow } from '../disk/lock.ts';
import { Failure } from '../failure.ts';
import type { DaemonAnswer, DaemonIdentity } from './daemon-identity.ts';

/** daemon.json, written when the daemon starts to listen: a hint, not a proof that it still runs. */
export type DaemonRecord = DaemonIdentity & { state: 'running' | 'stopping' };

export function lockFile(dataDir: string): string {
  return join(dataDir, 'daemon.lock');
}

export function recordFile(dataDir: string): string {
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

export function unusable(dataDir: string, error: unknown): unknown {
  if (systemErrorCode(error) === undefined || error instanceof Failure) return error;
  return new Failure(
    'file-unusable',
    `The data root ${dataDir} cannot be used: ${(error as Error).message}.`,
    'Make it a folder that you own, on a disk with free space, or set SVC_DATA_DIR to another folder.',
  );
}

/** The record, or undefined if there is no valid one. */
export function readRecord(dataDir: string): DaemonRecord | undefined {
  try {
    const data: unknown = JSON.parse(readTextNow(recordFile(dataDir)));
    const identity = identityIn(data);
    const { state } = Object(data) as { state?: unknown };
    const isState = state === 'running' || state === 'stopping';
    return identity !== undefined && isState ? { ...identity, state } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || systemErrorCode(error) !== undefined) return undefined;
    throw error;
  }
}

/** What a daemon says of itself, as answer to `GET /api/health`. */
export function answerIn(data: unknown): DaemonAnswer | undefined {
  const identity = identityIn(data);
  const { filesChecked } = Object(data) as { filesChecked?: unknown };
  return identity && { ...identity, ...(typeof filesChecked === 'boolean' && { filesChecked }) };
}

function identityIn(data: unknown): DaemonIdentity | undefined {
  const { instance, pid, port, url, version, startedAt } = Object(data) as Record<string, unknown>;
  const isWhole =
    [instance, url, version, startedAt].every((text) => typeof text === 'string') &&
    [pid, port].every((number) => Number.isInteger(number) && Number(number) > 0) &&
    Number(port) <= 65_535;
  return isWhole ? ({ instance, pid, port, url, version, startedAt } as DaemonIdentity) : undefined;
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
