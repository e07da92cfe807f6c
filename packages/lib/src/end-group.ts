// Ends a process and everything it started: first with a request, then by force.
import { setTimeout as sleep } from 'node:timers/promises';
import { signalGroup } from './pid.ts';
import { system } from './system.ts';

const POLL_MS = 50;
const AFTER_KILL_MS = 2_000;

export async function endGroup(leader: number, graceMs: number): Promise<void> {
  if (!signalGroup(leader, 'SIGTERM')) return;
  if (await isGone(leader, graceMs)) return;
  signalGroup(leader, 'SIGKILL');
  await isGone(leader, AFTER_KILL_MS);
}

async function isGone(leader: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  // The first process of the system may take seconds to remove the ended ones.
  while (signalGroup(leader, 0) && (await system.groupMembers(leader))?.length !== 0) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}
