// Ends a process with all that it started: asked first, then made to.
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../errors.ts';

const LOOK_MS = 50;
const AFTER_KILL_MS = 2_000;

export async function endGroup(leader: number, graceMs: number): Promise<void> {
  if (!signalGroup(leader, 'SIGTERM')) return;
  if (await isGone(leader, graceMs)) return;
  signalGroup(leader, 'SIGKILL');
  await isGone(leader, AFTER_KILL_MS);
}

async function isGone(leader: number, patienceMs: number): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while (signalGroup(leader, 0)) {
    if (performance.now() > deadline) return false;
    await sleep(LOOK_MS);
  }
  return true;
}

/** False when no process of the group is left. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'ESRCH') return false;
    throw error;
  }
}
