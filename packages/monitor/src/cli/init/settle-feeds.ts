// A daemon that has just started needs a moment to connect to the relay and to make its hooks. What it says of
// itself before that would be no verdict.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedsReport } from '@svc/client';
import type { Machine } from '../../config/environment.ts';
import { daemonAt } from '../daemon-client.ts';

const PATIENCE_MS = 15_000;
const POLL_MS = 200;
const ASK_MS = 5_000;

/** True when nothing is on its way any more. */
export async function untilFeedsSettle(
  machine: Machine,
  url: string,
  { interrupted, patienceMs = PATIENCE_MS }: { interrupted: AbortSignal; patienceMs?: number },
): Promise<boolean> {
  const daemon = daemonAt(machine, url, ASK_MS);
  const deadline = performance.now() + patienceMs;
  for (;;) {
    if (areSettled(await daemon.get('/api/feeds'))) return true;
    if (interrupted.aborted || performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
}

function areSettled({ tunnels, repos, codehost }: FeedsReport): boolean {
  return (
    tunnels.every(({ grade, why }) => grade !== 'connecting' || why !== null) &&
    repos.every(({ by, code }) => by === 'webhook' || code !== null) &&
    codehost.state !== 'starting'
  );
}
