// Finds the daemon of a data root. The lock is checked first: if it is not held there is no daemon, whatever answers on
// the port. The states, and the proof of each:
//   running        it answers at the recorded address with the recorded instance and pid
//   starting       the lock is held, and there is no address yet
//   stopping       the lock is held, and the holder has recorded that it is stopping
//   not-answering  the lock is held by a daemon that had an address, but that daemon does not answer there
//   stopped        the lock is not held, whatever daemon.json or a process with its pid suggest
import { setTimeout as sleep } from 'node:timers/promises';
import { authorization, readToken } from '../access/token-file.ts';
import { Failure } from '../failure.ts';
import type { DaemonAnswer, DaemonIdentity } from './daemon-identity.ts';
import { answerIn, type DaemonRecord, isHeld, isOurs, readRecord } from './daemon-record.ts';
import { askLoopback } from './loopback.ts';

// Asks a local port which daemon answers there; bounded in time and size. Nothing is sent to another user's program.

const TIMEOUT_MS = 2_000;

/**
 * The daemon that answers on the port, or undefined if none does. The caller checks which daemon it is. A token is
 * only for the daemon that holds the data root, not for other ports.
 */
export async function askHealth(
  dataDir: string,
  port: number,
  { token, timeoutMs = TIMEOUT_MS }: { token?: string | undefined; timeoutMs?: number } = {},
): Promise<DaemonAnswer | undefined> {
  try {
    if (!(await isOurs(dataDir, port, token))) return undefined;
    const signal = AbortSignal.timeout(timeoutMs);
    const headers = authorization(token);
    const answer = await askLoopback(`http://127.0.0.1:${port}/api/health`, {
      method: 'GET',
      headers,
      signal,
    });
    return answer.ok ? answerIn(JSON.parse(await answer.text())) : undefined;
  } catch (error) {
    // Refused, silent, cut off or not JSON: it is not a daemon that answers.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

const POLL_MS = 40;
const ROUNDS = 5;

export type FoundDaemon =
  | { state: 'running'; daemon: DaemonAnswer }
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
    // It changed meanwhile: a daemon is starting or stopping.
    record = latest;
  }
  if (!isHeld(dataDir)) return { state: 'stopped' };
  if (record === undefined) return { state: 'starting' };
  return { state: record.state === 'stopping' ? 'stopping' : 'not-answering', record };
}

/** Polls until `until` returns true, the time is over or the user interrupts; returns what was found last. */
export async function waitForDaemon(
  dataDir: string,
  until: (found: FoundDaemon) => boolean,
  { timeoutMs, interrupted }: { timeoutMs: number; interrupted?: AbortSignal },
): Promise<FoundDaemon> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await findDaemon(dataDir);
    if (until(found) || interrupted?.aborted || performance.now() > deadline) return found;
    await sleep(POLL_MS);
  }
}

function isSame(answer: DaemonIdentity, record: DaemonIdentity): boolean {
  return answer.instance === record.instance && answer.pid === record.pid;
}

// The failure for a daemon that holds the data root and does not answer.

export function notAnswering(found: FoundDaemon, dataDir: string): Failure {
  const what = found.state === 'not-answering' ? 'does not answer' : `is ${found.state}`;
  const who = 'record' in found ? ` (pid ${found.record.pid})` : '';
  return new Failure('not-answering', `The daemon of ${dataDir}${who} ${what}.`, remedyFor(found, dataDir));
}

export function remedyFor(found: FoundDaemon, dataDir: string): string {
  const hint = 'See what it is doing: svc monitor logs';
  if (!('record' in found))
    return `${hint}. To see which process holds the data root: fuser -v '${dataDir}/daemon.lock'`;
  const { pid } = found.record;
  return `${hint}. If it hangs, check that it is svc (ps -p ${pid}), then: kill -9 ${pid}`;
}
