// Calls the daemon's routes on loopback, typed by their description. What the daemon refuses becomes the failure that
// it names.
import { ApiFailure, type Client, createClient } from '@svc/client';
import type { Machine } from '../config/environment.ts';
import { findDaemon } from '../daemon/status.ts';
import { Failure, isFailureCode } from '../errors.ts';

/** Long enough for a reindex of a large log. */
const PATIENCE_MS = 600_000;

export type DaemonClient = Pick<Client, 'url' | 'get' | 'post'>;

/** The running daemon's client, or undefined when none runs. */
export async function connectDaemon(machine: Machine): Promise<DaemonClient | undefined> {
  const found = await findDaemon(machine.dataDir);
  return found.state === 'running' ? daemonAt(found.daemon.url) : undefined;
}

export function daemonAt(url: string, patienceMs = PATIENCE_MS): DaemonClient {
  const client = createClient(url, { timeoutMs: patienceMs });
  const refuse = (error: unknown): never => {
    throw error instanceof ApiFailure ? failureOf(error, patienceMs) : error;
  };
  return {
    url,
    get: (path, ...wish) => client.get(path, ...wish).catch(refuse),
    post: (path, ...wish) => client.post(path, ...wish).catch(refuse),
  };
}

function failureOf(failure: ApiFailure, patienceMs: number): Failure {
  const { status, code, message, remedy, cause } = failure;
  if (status === 0) return goneOrSlow(cause, patienceMs);
  const fallback = status === 400 ? 'usage' : 'daemon-refused';
  return new Failure(isFailureCode(code) ? code : fallback, message, remedy);
}

/** It ran when it was looked for. */
function goneOrSlow(cause: unknown, patienceMs: number): Failure {
  if (cause instanceof DOMException && cause.name === 'TimeoutError')
    return new Failure(
      'not-answering',
      `The daemon did not answer within ${patienceMs / 1000} s.`,
      'See: svc monitor status',
      { cause },
    );
  return new Failure('daemon-needed', 'The daemon went away.', 'Start it: svc-monitor.sh start', { cause });
}
