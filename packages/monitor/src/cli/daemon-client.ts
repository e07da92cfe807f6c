// Calls the daemon's routes on loopback. An answer that is an error becomes the failure that it names.
import type { Machine } from '../config/environment.ts';
import { findDaemon } from '../daemon/status.ts';
import { Failure, isFailureCode } from '../errors.ts';

/** Long enough for a reindex of a large log. */
const PATIENCE_MS = 600_000;

export type DaemonClient = {
  url: string;
  getJson: (path: string, query?: Record<string, string>) => Promise<unknown>;
  postJson: (path: string, body: unknown) => Promise<unknown>;
};

/** The running daemon's client, or undefined when none runs. */
export async function connectDaemon(machine: Machine): Promise<DaemonClient | undefined> {
  const found = await findDaemon(machine.dataDir);
  return found.state === 'running' ? daemonAt(found.daemon.url) : undefined;
}

export function daemonAt(url: string, patienceMs = PATIENCE_MS): DaemonClient {
  return {
    url,
    getJson: (path, query = {}) =>
      call(`${url}${path}?${new URLSearchParams(query).toString()}`, {}, patienceMs),
    postJson: (path, body) =>
      call(
        url + path,
        { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) },
        patienceMs,
      ),
  };
}

async function call(url: string, init: RequestInit, patienceMs: number): Promise<unknown> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(patienceMs) });
  const body: unknown = await response.json();
  if (response.ok) return body;
  const { error, code, remedy } = body as { error?: string; code?: string; remedy?: string };
  const fallback = response.status === 400 ? 'usage' : 'daemon-refused';
  throw new Failure(
    isFailureCode(code) ? code : fallback,
    error ?? `The daemon answered ${response.status}.`,
    remedy,
  );
}
