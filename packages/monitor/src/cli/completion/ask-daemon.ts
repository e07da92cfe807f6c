// The names that only the running daemon knows. The user has pressed Tab and waits, so it is asked once, for less than a
// third of a second; without a daemon, or with a slow one, there are no names and no error.
import { type Board, createClient } from '@svc/client';
import { workerText } from '../../features/workers/worker-label.ts';
import { authorization, readToken } from '../../kernel/access/token-file.ts';
import { readMachine } from '../../kernel/config/environment.ts';
import type { Environment } from '../../kernel/config/resolved-value.ts';
import { Failure } from '../../kernel/failure.ts';
import { isHeld, isOurs, readRecord } from '../../kernel/instance/daemon-record.ts';
import { loopback } from '../../kernel/instance/loopback.ts';
import { plainText } from '../kit/text.ts';
import type { Offered } from './find-completions.ts';
import type { DaemonKind } from './value-kinds.ts';

const TIMEOUT_MS = 300;
const MOST_BYTES = 8 * 1024 * 1024;
const LONGEST_DESCRIPTION = 100;

export async function askDaemon(
  dataDir: string,
  kind: DaemonKind,
  timeoutMs: number = TIMEOUT_MS,
): Promise<Offered[]> {
  const record = readRecord(dataDir);
  if (record === undefined || !isHeld(dataDir)) return [];
  const { port } = record;
  const token = readToken(dataDir);
  const signal = AbortSignal.timeout(timeoutMs);
  const client = createClient(`http://127.0.0.1:${port}`, {
    fetch: loopback(MOST_BYTES),
    headers: authorization(token),
  });
  try {
    if (!(await isOurs(dataDir, port, token))) return [];
    if (kind === 'archived-run') {
      const { runs } = await client.get('/api/archive', { query: { limit: 500 }, signal });
      return runs.map(({ orchestrator, state }) => offer(orchestrator, state));
    }
    const board = await client.get('/api/board', { signal });
    // The record can outlive its daemon, and another program may use the port now.
    return board.instanceId === record.instance ? namesOn[kind](board) : [];
  } catch (error) {
    // Gone, slow, refusing, or not a daemon: no names.
    if (error instanceof Error) return [];
    throw error;
  }
}

const namesOn: Readonly<Record<Exclude<DaemonKind, 'archived-run'>, (board: Board) => Offered[]>> = {
  ticket: ({ workers, tickets, pullRequests }) => [
    ...workers.map((worker) => {
      const pullRequest = pullRequests.find(({ key }) => key === worker.pullRequestKey) ?? null;
      return offer(worker.ticket, `${workerText(worker, pullRequest)}, ${worker.orchestrator}`);
    }),
    ...tickets.map(({ ticket, title }) => offer(ticket, title ?? '')),
  ],
  run: ({ runs, workers }) => [
    ...runs.map(({ orchestrator, state }) => offer(orchestrator, state)),
    ...workers.map(({ orchestrator }) => offer(orchestrator, '')),
  ],
  'attention-item': ({ attention }) => attention.map(({ id, message }) => offer(id, message)),
};

function offer(value: string, description: string): Offered {
  return { value, description: plainText(description).slice(0, LONGEST_DESCRIPTION) };
}

/**
 * Asks the daemon of this machine. An invalid setting is reported and gives no names: the scripts drop the message, and
 * every other verb shows it.
 */
export async function namesHere(
  environment: Environment,
  home: string,
  kind: DaemonKind,
  report: (problem: string) => void,
): Promise<Offered[]> {
  try {
    return await askDaemon(readMachine(environment, home).dataDir, kind);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    report(error.message);
    return [];
  }
}
