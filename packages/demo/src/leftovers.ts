// Cleans up after a demo that was killed: its home, and maybe its daemon. A home is a leftover if the process in its
// marker has ended or is from before the last boot. Only this user's folders count, and a process is killed only if it
// is proven to be that home's daemon.
import { lstatSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPid } from '@svc/lib/pid';
import { system } from '@svc/lib/system';
import { tokenHeader } from './daemon.ts';
import { HOME_PREFIX, MARKER, type Marker } from './home.ts';

/** A younger home without a marker may be one that is being created. */
const BEING_CREATED_MS = 60_000;
const ASK_MS = 1_000;
const END_WITHIN_MS = 5_000;

export type Left = { home: string; problem?: string };

/** Removes the leftovers; one that could not be removed is returned with the problem. */
export async function removeLeftovers(parent: string, now: Date, bootedAt: Date): Promise<Left[]> {
  const names = readdirSync(parent).filter((name) => name.startsWith(HOME_PREFIX));
  const removed: Left[] = [];
  for (const name of names) {
    const home = join(parent, name);
    if (!(await isLeftover(home, now, bootedAt))) continue;
    try {
      await killDaemon(home);
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      removed.push({ home });
    } catch (error) {
      removed.push({ home, problem: error instanceof Error ? error.message : String(error) });
    }
  }
  return removed;
}

async function isLeftover(home: string, now: Date, bootedAt: Date): Promise<boolean> {
  const found = lstatSync(home, { throwIfNoEntry: false });
  if (found === undefined || !found.isDirectory() || found.uid !== process.getuid?.()) return false;
  const marker = readJson(join(home, MARKER)) as Marker | undefined;
  if (marker === undefined) return now.getTime() - found.mtimeMs > BEING_CREATED_MS;
  return Date.parse(marker.startedAt) < bootedAt.getTime() || !(await isAlive(marker.pid));
}

type Announced = { pid: number; port: number; instance: string };

async function killDaemon(home: string): Promise<void> {
  const announced = readJson(join(home, 'svc/daemon.json')) as Announced | undefined;
  if (announced === undefined || !(await isAlive(announced.pid))) return;
  if (!((await worksIn(announced.pid, home)) ?? (await answersAs(announced, tokenHeader(join(home, 'svc'))))))
    return;
  process.kill(announced.pid, 'SIGKILL');
  const deadline = performance.now() + END_WITHIN_MS;
  while (await isAlive(announced.pid)) {
    if (performance.now() > deadline) throw new Error(`its daemon, process ${announced.pid}, does not exit`);
    await sleep(20);
  }
}

/** Undefined if the system does not report it. */
async function worksIn(pid: number, home: string): Promise<boolean | undefined> {
  return (await system.workingFolderOf(pid))?.startsWith(`${realpathSync(home)}/`);
}

async function answersAs({ port, instance }: Announced, headers: Record<string, string>): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/health`, {
      headers,
      signal: AbortSignal.timeout(ASK_MS),
    });
    return JSON.stringify(await response.json()).includes(JSON.stringify(instance));
  } catch {
    // No response, or another program: not its daemon.
    return false;
  }
}

/** One that cannot be examined counts too; a zombie does not. */
async function isAlive(pid: unknown): Promise<boolean> {
  if (!isPid(pid)) return false;
  return (await system.processStarts([pid])).get(pid)?.state !== 'gone';
}

function readJson(path: string): object | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    // Missing, or partly written.
    return undefined;
  }
}
