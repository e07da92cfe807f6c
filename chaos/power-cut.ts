// A disk whose power can be cut: its own file system (power-cut.py) that loses everything unsynced, including bytes,
// lengths, names and renames. There may be several, and each is cut separately. None outlives the script.
// Needs /dev/fuse and Debian's packages fuse3 and python3-pyfuse3.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { within } from '@svc/lib/timeout';
import { WAIT_MS } from '../packages/testkit/src/waiting.ts';

export type PowerCutOptions = {
  /** Where it is mounted. */
  folder: string;
  /** What a sync saves: with `files`, a sync of a folder does nothing; with `nothing`, no sync does anything. */
  sync?: 'everything' | 'files' | 'nothing';
  /** `strict`: a name is saved only by a sync of its folder. `journal`: by any later sync, as in ext4. */
  names?: 'strict' | 'journal';
  /** A sync takes up to twice as long. */
  syncMs?: number;
};

/** The numbers of files with unsaved changes, and of unsaved changes of names. */
export type Forgotten = { files: number; names: number };

export type Cut = {
  /** Sends SIGKILL to all users of the disk before it returns, and resolves when they have ended. */
  kill: () => Promise<unknown>;
  /** A seed: some unsynced data survives, in parts, as on a real disk. Null: none does. */
  torn: number | null;
  /** Not now, but when something is about to be synced. */
  inSync?: boolean;
};

export type PowerCutDisk = {
  folder: string;
  /** Saves everything as it is. */
  settle: () => Promise<void>;
  /** Cuts the power, kills, and mounts the surviving data. */
  cut: (cut: Cut) => Promise<Forgotten>;
  unmount: () => Promise<void>;
};

/** Debian's Python: others do not find the system's packages. */
const PYTHON = '/usr/bin/python3';
const PROGRAM = join(import.meta.dirname, 'power-cut.py');
const mounted = new Map<string, ChildProcess>();

/** `const disk = await mountPowerCutDisk({ folder }); await disk.cut({ kill: daemon.kill, torn: 7 })` */
export async function mountPowerCutDisk({
  folder,
  sync = 'everything',
  names = 'strict',
  syncMs = 2,
}: PowerCutOptions): Promise<PowerCutDisk> {
  mkdirSync(folder, { recursive: true });
  const child = spawn(PYTHON, [PROGRAM, JSON.stringify({ folder, sync, names, syncMs })], {
    // Ctrl-C is for the script, which unmounts.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  endWithScript(folder, child);
  // Its standard error has the reason.
  child.stdin.on('error', () => undefined);
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();

  async function answered(): Promise<Record<string, unknown>> {
    const answer = await within(answers.next(), WAIT_MS, () => undefined);
    if (answer === undefined || answer.done === true)
      throw new Error(
        `The disk at ${folder} does not answer (needed: /dev/fuse, apt-get install fuse3 python3-pyfuse3)`,
      );
    return JSON.parse(answer.value);
  }

  async function send(command: Record<string, unknown>): Promise<Record<string, unknown>> {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    return answered();
  }

  async function unmount(): Promise<void> {
    child.stdin.end();
    await within(ended, WAIT_MS, () => undefined);
    forceUnmount(folder, child);
    mounted.delete(folder);
  }

  try {
    await answered();
  } catch (error) {
    await unmount();
    throw error;
  }
  return {
    folder,
    async settle() {
      await send({ do: 'settle' });
    },
    async cut({ kill, torn, inSync = false }) {
      const { forgotten } = await send({ do: 'cut', torn, inSync });
      const killed = kill();
      await send({ do: 'fail' });
      await killed;
      await send({ do: 'start' });
      return forgotten as Forgotten;
    },
    unmount,
  };
}

/** Before all other cleanup, such as removing the folder that it is mounted in. */
function endWithScript(folder: string, child: ChildProcess): void {
  if (mounted.size === 0) {
    process.prependListener('exit', forceUnmountAll);
    if (process.listenerCount('SIGTERM') === 0)
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
        process.on(signal, () => process.exit(1));
  }
  mounted.set(folder, child);
}

function forceUnmountAll(): void {
  for (const [folder, child] of mounted) forceUnmount(folder, child);
}

/** Does nothing if it has already ended and unmounted. */
function forceUnmount(folder: string, child: ChildProcess): void {
  if (child.exitCode !== null) return;
  child.kill('SIGKILL');
  spawnSync('fusermount3', ['-u', '-z', '-q', folder], { stdio: 'ignore' });
}
