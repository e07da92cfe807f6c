// Calls the daemon's routes on loopback. An answer that is an error becomes the failure that it names.
import type { Machine } from '../config/environment.ts';
import { findDaemon } from '../daemon/status.ts';
import { Failure } from '../errors.ts';

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
  if (found.state !== 'running') return undefined;
  const { url } = found.daemon;
  return {
    url,
    getJson: (path, query = {}) => call(`${url}${path}?${new URLSearchParams(query).toString()}`, {}),
    postJson: (path, body) =>
      call(url + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
}

async function call(url: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
  const body: unknown = await response.json();
  if (response.ok) return body;
  const { error, remedy } = body as { error?: string; remedy?: string };
  const code = response.status === 400 ? 'usage' : 'daemon-refused';
  throw new Failure(code, error ?? `The daemon answered ${response.status}.`, remedy);
}
