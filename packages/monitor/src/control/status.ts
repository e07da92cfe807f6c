// Finds the daemon of a data root. The lock is checked first: if it is not held there is no daemon, whatever answers on
// the port. The states, and the proof of each:
//   running        it answers at the recorded address with the recorded instance and pid
//   starting       the lock is held, and there is no address yet
//   stopping       the lock is held, and the holder has recorded that it is stopping
//   not-answering  the lock is held by a daemon that had an address, but that daemon does not answer there
//   stopped        the lock is not held, whatever daemon.json or a process with its pid suggest
import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { DaemonAnswer, type DaemonIdentity, type DaemonRecord } from '@svc/core';
import { authorization, readToken } from '../access/token-file.ts';
import type { Machine } from '../config/environment.ts';
import { isHeld, isOurs, readRecord } from './instance.ts';
import { logFileOf } from './log-file.ts';
import { type Drift, measureDrift } from './version-drift.ts';

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
    const health = await body(port, authorization(token), AbortSignal.timeout(timeoutMs));
    const answer = DaemonAnswer.safeParse(JSON.parse(health));
    return answer.success ? answer.data : undefined;
  } catch (error) {
    // Refused, silent, cut off or not JSON: it is not a daemon that answers.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function body(port: number, headers: Record<string, string>, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    // Not the shared agent: that may use a proxy, and loopback never does.
    const options = { host: '127.0.0.1', port, path: '/api/health', headers, agent: new Agent(), signal };
    get(options, (response) => {
      if (response.statusCode === 200) return resolve(text(response));
      response.destroy();
      reject(new Error(`status ${response.statusCode}`));
    }).on('error', reject);
  });
}

// The answer of `svc monitor status`: the specification's fields first, in its order, then ours.

export type StatusReport = {
  /** True only if the daemon has answered and proved its identity: the URL can be used. `state` is the reason if false. */
  running: boolean;
  pid: number | null;
  port: number;
  url: string;
} & Drift & {
    state: FoundDaemon['state'];
    startedAt: string | null;
    instance: string | null;
    dataDir: string;
    logFile: string;
  };

export async function reportStatus(
  found: FoundDaemon,
  machine: Machine,
  ownVersion: string,
): Promise<StatusReport> {
  const { pid, port, url, version, startedAt, instance } = knownOf(found);
  return {
    running: found.state === 'running',
    pid: pid ?? null,
    port: port ?? machine.port,
    url: url ?? `http://127.0.0.1:${machine.port}`,
    ...(await measureDrift(version ?? ownVersion, machine.pluginCacheRoot)),
    state: found.state,
    startedAt: startedAt ?? null,
    instance: instance ?? null,
    dataDir: machine.dataDir,
    logFile: logFileOf(machine.dataDir),
  };
}

type Known = Partial<Extract<FoundDaemon, { state: 'running' }>['daemon']>;

function knownOf(found: FoundDaemon): Known {
  if (found.state === 'running') return found.daemon;
  return 'record' in found ? found.record : {};
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
