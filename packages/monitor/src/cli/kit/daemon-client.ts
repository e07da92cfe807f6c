// Calls the daemon's routes on loopback, typed by their description. An error answer becomes the failure that it names.
import { ApiFailure, type Client, createClient } from '@svc/client';
import { authorization, readToken } from '../../kernel/access/token-file.ts';
import type { DoctorFinding, DoctorPart } from '../../kernel/check/finding.ts';
import type { Machine } from '../../kernel/config/environment.ts';
import { Failure, isFailureCode } from '../../kernel/failure.ts';
import { type FoundDaemon, notAnswering, waitForDaemon } from '../../kernel/instance/find-daemon.ts';
import { askLoopback } from '../../kernel/instance/loopback.ts';

/** Long enough for a reindex of a large log. */
const TIMEOUT_MS = 600_000;
const LATE_MS = 5_000;

export type DaemonClient = Pick<Client, 'url' | 'get' | 'post'> & {
  /** Sent with every request. */
  headers: Readonly<Record<string, string>>;
};

/** A client of the running daemon, or undefined. */
export async function connectDaemon(machine: Machine): Promise<DaemonClient | undefined> {
  const found = await answeringDaemon(machine.dataDir);
  return found.state === 'running' ? daemonAt(machine, found.daemon.url) : undefined;
}

/** For verbs that cannot work without the daemon. */
export async function needDaemonOf(machine: Machine): Promise<DaemonClient> {
  const found = await answeringDaemon(machine.dataDir);
  if (found.state === 'running') return daemonAt(machine, found.daemon.url);
  if (found.state !== 'stopped') throw notAnswering(found, machine.dataDir);
  throw new Failure('daemon-needed', 'The daemon is not running.', 'Start it: svc monitor start');
}

/** On a busy machine an answer may be late. */
function answeringDaemon(dataDir: string): Promise<FoundDaemon> {
  return waitForDaemon(dataDir, ({ state }) => state !== 'not-answering', { timeoutMs: LATE_MS });
}

/** For a daemon of this machine's data root that was found at the address. */
export function daemonAt(
  { dataDir }: Pick<Machine, 'dataDir'>,
  url: string,
  timeoutMs = TIMEOUT_MS,
): DaemonClient {
  const headers = authorization(readToken(dataDir));
  const client = createClient(url, { fetch: askLoopback, headers, timeoutMs });
  const rethrow = (error: unknown): never => {
    throw error instanceof ApiFailure ? failureOf(error, timeoutMs) : error;
  };
  return {
    url,
    headers,
    get: (path, ...request) => client.get(path, ...request).catch(rethrow),
    post: (path, ...request) => client.post(path, ...request).catch(rethrow),
  };
}

function failureOf(failure: ApiFailure, timeoutMs: number): Failure {
  const { status, code, message, remedy, cause } = failure;
  if (status === 0) return goneOrSlow(cause, timeoutMs);
  const fallback = status === 400 ? 'usage' : 'daemon-refused';
  return new Failure(isFailureCode(code) ? code : fallback, message, remedy);
}

/** The daemon was running a moment ago. */
function goneOrSlow(cause: unknown, timeoutMs: number): Failure {
  if (cause instanceof DOMException && cause.name === 'TimeoutError')
    return new Failure(
      'not-answering',
      `The daemon did not answer within ${timeoutMs / 1000} s.`,
      'Check it: svc monitor status',
      { cause },
    );
  return new Failure(
    'daemon-needed',
    'The daemon stopped while it was asked.',
    'Start it: svc monitor start',
    { cause },
  );
}

/** A check of the doctor that asks the running daemon. */
export type AskingCheck = { part: DoctorPart; run: (daemon: DaemonClient) => Promise<DoctorFinding[]> };
