// What an earlier demo left because it was killed: its home, and maybe its daemon. A home is a leftover when the
// process of its marker has ended, or is of before this machine was started. Only folders of this user count, and
// a process is ended only when it proves to be that home's daemon.
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tokenHeader } from './daemon.ts';
import { HOME_PREFIX, MARKER, type Marker } from './home.ts';

/** A home without a marker may be one that is being made. */
const BEING_MADE_MS = 60_000;
const ASK_MS = 1_000;
const END_WITHIN_MS = 5_000;

export type Left = { home: string; problem?: string };

/** Removes them; what could not be removed comes back with its problem. */
export async function removeLeftovers(parent: string, now: Date, bootedAt: Date): Promise<Left[]> {
  const names = readdirSync(parent).filter((name) => name.startsWith(HOME_PREFIX));
  const removed: Left[] = [];
  for (const name of names) {
    const home = join(parent, name);
    if (!isLeftover(home, now, bootedAt)) continue;
    try {
      await endDaemon(home);
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      removed.push({ home });
    } catch (error) {
      removed.push({ home, problem: error instanceof Error ? error.message : String(error) });
    }
  }
  return removed;
}

function isLeftover(home: string, now: Date, bootedAt: Date): boolean {
  const found = lstatSync(home, { throwIfNoEntry: false });
  if (found === undefined || !found.isDirectory() || found.uid !== process.getuid?.()) return false;
  const marker = readJson(join(home, MARKER)) as Marker | undefined;
  if (marker === undefined) return now.getTime() - found.mtimeMs > BEING_MADE_MS;
  return Date.parse(marker.startedAt) < bootedAt.getTime() || !isAlive(marker.pid);
}

type Announced = { pid: number; port: number; instance: string };

async function endDaemon(home: string): Promise<void> {
  const announced = readJson(join(home, 'svc/daemon.json')) as Announced | undefined;
  if (announced === undefined || !isAlive(announced.pid)) return;
  if (!(worksIn(announced.pid, home) ?? (await answersAs(announced, tokenHeader(join(home, 'svc')))))) return;
  process.kill(announced.pid, 'SIGKILL');
  const deadline = performance.now() + END_WITHIN_MS;
  while (isAlive(announced.pid)) {
    if (performance.now() > deadline) throw new Error(`its daemon, process ${announced.pid}, does not end`);
    await sleep(20);
  }
}

/** Undefined where the system does not tell. */
function worksIn(pid: number, home: string): boolean | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(`${realpathSync(home)}/`);
  } catch {
    return undefined;
  }
}

async function answersAs({ port, instance }: Announced, headers: Record<string, string>): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/health`, {
      headers,
      signal: AbortSignal.timeout(ASK_MS),
    });
    return JSON.stringify(await response.json()).includes(JSON.stringify(instance));
  } catch {
    // Nobody there, or somebody else: not its daemon.
    return false;
  }
}

function isAlive(pid: unknown): boolean {
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 2) return false;
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    // Somebody else's process lives, too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Ended, but its parent has not asked after it yet. A signal still reaches it. */
function isZombie(pid: number): boolean {
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    // The system does not tell, or it is gone by now: then the next signal says so.
    return false;
  }
}

function readJson(path: string): object | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    // Not there, or half written.
    return undefined;
  }
}
