// A server in its own process, for chaos and benches: started, waited for, killed by its pid.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';
import { endOf, endWithScript } from '../script.ts';
import { until, WAIT_MS } from '../waiting.ts';

/** What a server writes into a file when it listens. */
type Announcement = { pid: number; port: number; instance?: string };

export type ServerProcess = {
  pid: number;
  /** Resolves when it listens; rejects if it ends before that, or never listens. */
  ready: Promise<Announcement>;
  /** Resolves when it has ended, with its exit code or the signal that ended it. */
  ended: Promise<number | string>;
  /** SIGKILL. */
  kill: () => Promise<void>;
  /** Asks it to stop; if it does not, it is killed, and that is an error. */
  stop: () => Promise<number | string>;
};

export type ServerOptions = {
  /** Arguments for node. */
  command: readonly string[];
  environment: Record<string, string>;
  folder: string;
  /** The file with its announcement: one with another pid is old. */
  announcedIn: string;
  /** Its output is appended here. */
  output: string;
  /** The user that it runs as, if not the current one. Only root can choose. */
  uid?: number;
};

export function startServer(options: ServerOptions): ServerProcess {
  const output = openSync(options.output, 'a');
  const child = spawn(process.execPath, options.command, {
    cwd: options.folder,
    env: { PATH: process.env['PATH'], ...options.environment },
    stdio: ['ignore', output, output],
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
  });
  closeSync(output);
  const pid = child.pid;
  if (pid === undefined) throw new Error(`node ${options.command.join(' ')} could not be started`);
  endWithScript(child);
  const ended = endOf(child);
  const ready = announcementOf(child, pid, options);
  // A caller that kills it during its start does not need the rejection.
  ready.catch(() => undefined);
  return {
    pid,
    ready,
    ended,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.kill('SIGTERM');
      const enough = new AbortController();
      const late = sleep(WAIT_MS, 'late' as const, { signal: enough.signal }).catch(() => 'on time' as const);
      const how = await Promise.race([ended, late]);
      enough.abort();
      if (how !== 'late') return how;
      child.kill('SIGKILL');
      throw new Error(`process ${pid} did not stop within ${WAIT_MS} ms`);
    },
  };
}

async function announcementOf(
  child: ChildProcess,
  pid: number,
  { announcedIn, output }: ServerOptions,
): Promise<Announcement> {
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const found = await until(() => {
    const announced = readAnnouncement(announcedIn);
    return announced?.pid === pid ? announced : isOver() && 'over';
  }).catch(() => 'silent' as const);
  if (typeof found === 'object') return found;
  const what = found === 'over' ? 'ended before it listened' : 'does not listen';
  throw new Error(`process ${pid} ${what}:\n${lastLines(output)}`);
}

function readAnnouncement(file: string): Announcement | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // Missing or half written: read it again.
    return undefined;
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
}

// Kills daemons during their start: after they have locked the data root, before they answer. The time for that depends
// on the machine, so it is found by trying.

const FIRST_GUESS_MS = 300;

/** One for all daemons of a home: `const killWhileStarting = createStartKiller(home, random)`. */
export function createStartKiller({ dataDir }: { dataDir: string }, random: Random) {
  const record = join(dataDir, 'daemon.json');
  /** From the data root to the first answer. */
  let startMs = FIRST_GUESS_MS;

  /**
   * Starts daemons until one was killed before it answered. The previous daemon must have been killed too: its leftover
   * record is removed when the next one locks the data root.
   */
  return async (start: () => ServerProcess): Promise<void> => {
    for (let isInTime = false; !isInTime; ) {
      const daemon = start();
      let isReady = false;
      const ready = daemon.ready.then(() => (isReady = true));
      await until(() => isReady || !existsSync(record));
      const startedAt = performance.now();
      await Promise.race([ready, sleep(random.next() * startMs)]);
      isInTime = !isReady;
      startMs = isInTime ? startMs * 1.3 : Math.max(10, performance.now() - startedAt);
      await daemon.kill();
    }
  };
}
