// Stops the daemon: asks the process that has proved to be it, and waits until the data root is free.
// A pid that is only written somewhere is never signalled.
import { Failure, systemErrorCode } from '../errors.ts';
import { notAnswering } from './control-not-answering.ts';
import { type FoundDaemon, waitForDaemon } from './status.ts';

const PATIENCE_MS = 15_000;
const PROOF_WITHIN_MS = 3_000;

export type StopOptions = {
  dataDir: string;
  signal: (pid: number, name: NodeJS.Signals) => void;
  interrupted: AbortSignal;
  patienceMs?: number;
};

/** The pid of the daemon that was stopped, or undefined when none ran. */
export async function stopDaemon(options: StopOptions): Promise<number | undefined> {
  const { dataDir, interrupted, patienceMs = PATIENCE_MS } = options;
  const found = await waitForDaemon(
    dataDir,
    ({ state }) => state === 'running' || state === 'stopped' || state === 'stopping',
    { patienceMs: PROOF_WITHIN_MS, interrupted },
  );
  if (found.state === 'stopped') return undefined;
  if (found.state === 'starting' || found.state === 'not-answering') throw notAnswering(found, dataDir);
  const { pid } = found.state === 'running' ? found.daemon : found.record;
  if (found.state === 'running') ask(pid, options.signal);
  // A service manager may have the next one up before we look.
  const isGone = (now: FoundDaemon) =>
    now.state === 'stopped' || (now.state === 'running' && now.daemon.pid !== pid);
  if (isGone(await waitForDaemon(dataDir, isGone, { patienceMs, interrupted }))) return pid;
  throw new Failure(
    'stop-failed',
    `The daemon (pid ${pid}) did not stop within ${patienceMs / 1000} s.`,
    `End it at once, which loses nothing that was acknowledged: kill -9 ${pid}`,
  );
}

function ask(pid: number, signal: StopOptions['signal']): void {
  try {
    signal(pid, 'SIGTERM');
  } catch (error) {
    if (systemErrorCode(error) === 'ESRCH') return;
    throw new Failure(
      'stop-failed',
      `The daemon (pid ${pid}) cannot be signalled: ${(error as Error).message}.`,
    );
  }
}
