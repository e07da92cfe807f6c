// Finds the daemon of a data root. Its modes, and the proof of each:
// The lock is asked first: where nobody holds it there is no daemon, whoever answers on the port.
//   running        it answers at the recorded address with the recorded instance and pid
//   starting       the lock is held, and there is no address yet
//   stopping       the lock is held, and the holder has said that it ends
//   not-answering  the lock is held by a daemon that had an address, but nobody answers there as that daemon
//   stopped        nobody holds the lock, whatever daemon.json or a process with its pid suggest
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonIdentity, DaemonRecord } from '@svc/core';
import { readToken } from '../access/token-file.ts';
import { isHeld, readRecord } from './instance.ts';
import { askHealth } from './status-health.ts';

const POLL_MS = 40;
const ROUNDS = 5;

export type FoundDaemon =
  | { state: 'running'; daemon: DaemonIdentity }
  | { state: 'stopping' | 'not-answering'; record: DaemonRecord }
  | { state: 'starting' }
  | { state: 'stopped' };

export async function findDaemon(dataDir: string): Promise<FoundDaemon> {
  let record = readRecord(dataDir);
  for (let round = 0; round < ROUNDS && isHeld(dataDir); round += 1) {
    const daemon =
      record?.state === 'running'
        ? await askHealth(dataDir, record.port, { token: readToken(dataDir) })
        : undefined;
    if (daemon && record?.state === 'running' && isSame(daemon, record)) return { state: 'running', daemon };
    const latest = readRecord(dataDir);
    if (JSON.stringify(latest) === JSON.stringify(record)) break;
    // It changed while we looked: a daemon is coming or going.
    record = latest;
  }
  if (!isHeld(dataDir)) return { state: 'stopped' };
  if (record === undefined) return { state: 'starting' };
  return { state: record.state === 'stopping' ? 'stopping' : 'not-answering', record };
}

/** Looks until `until` is content, the time is over or the person interrupts; returns what was found last. */
export async function waitForDaemon(
  dataDir: string,
  until: (found: FoundDaemon) => boolean,
  { patienceMs, interrupted }: { patienceMs: number; interrupted: AbortSignal },
): Promise<FoundDaemon> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const found = await findDaemon(dataDir);
    if (until(found) || interrupted.aborted || performance.now() > deadline) return found;
    await sleep(POLL_MS);
  }
}

function isSame(answer: DaemonIdentity, record: DaemonIdentity): boolean {
  return answer.instance === record.instance && answer.pid === record.pid;
}
