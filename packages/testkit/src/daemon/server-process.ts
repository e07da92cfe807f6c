// A server in a process of its own, for chaos and benches: started, waited for, killed by its own pid.
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
  /** Resolves when it listens; rejects when it ends before, or never does. */
  ready: Promise<Announcement>;
  /** Resolves when it has ended, with its exit code or the signal that ended it. */
  ended: Promise<number | string>;
  /** -9: no chance to say goodbye. */
  kill: () => Promise<void>;
  /** Asks it to stop; one that never does is killed, and that is an error. */
  stop: () => Promise<number | string>;
};

export type ServerOptions = {
  /** Arguments of node. */
  command: readonly string[];
  environment: Record<string, string>;
  folder: string;
  /** The file of its announcement: one of another pid is an old one. */
  announcedIn: string;
  /** Where its output is appended. */
  output: string;
};

export function startServer(options: ServerOptions): ServerProcess {
  const output = openSync(options.output, 'a');
  const child = spawn(process.execPath, options.command, {
    cwd: options.folder,
    env: { PATH: process.env['PATH'], ...options.environment },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const pid = child.pid;
  if (pid === undefined) throw new Error(`node ${options.command.join(' ')} could not be started`);
  endWithScript(child);
  const ended = endOf(child);
  const ready = announcementOf(child, pid, options);
  // Whoever kills it while it starts has no use for the rejection.
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
    // Not there yet, or half written: it is looked at again.
    return undefined;
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
}

// Kills daemons in the midst of their start: after they have taken the data root, before they answer. How long that
// takes depends on the machine, so it is found out by trying.

const FIRST_GUESS_MS = 300;

/** One for all daemons of a home: `const killWhileStarting = createStartKiller(home, random)`. */
export function createStartKiller({ dataDir }: { dataDir: string }, random: Random) {
  const record = join(dataDir, 'daemon.json');
  /** From the data root to the first answer. */
  let startMs = FIRST_GUESS_MS;

  /**
   * Starts daemons until one was killed before it answered. The daemon before must have been killed too: the record
   * that it left goes when the next one takes the data root.
   */
  return async (start: () => ServerProcess): Promise<void> => {
    for (let isInTime = false; !isInTime; ) {
      const daemon = start();
      let isReady = false;
      const ready = daemon.ready.then(() => (isReady = true));
      await until(() => isReady || !existsSync(record));
      const began = performance.now();
      await Promise.race([ready, sleep(random.next() * startMs)]);
      isInTime = !isReady;
      startMs = isInTime ? startMs * 1.3 : Math.max(10, performance.now() - began);
      await daemon.kill();
    }
  };
}
