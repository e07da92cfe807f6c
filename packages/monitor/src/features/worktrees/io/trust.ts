// Marks a worktree as trusted in the agent program's own settings file `~/.claude.json`, so it does not stop to ask. This
// is the only writer of that file in svc. The agents write it too: their lock (the folder `.claude.json.lock`) is taken as
// well, and a file that changed in the meantime is read again. A file that cannot be parsed as settings is not changed.
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parsedJson } from '@svc/contract/payload-fields';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { isThere, readText, stat } from '@svc/lib/paths';
import { setInJson, unsetInJson } from '../../../kernel/config/edit-json.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { Config } from '../../config.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const ATTEMPTS = 5;
/** The agents renew their lock more often; an older one was left by a crash. */
const STALE_LOCK_MS = 10_000;
const LOCK_TIMEOUT_MS = 3_000;

export type Trust = {
  /** Returns a warning when the file could not be changed; everything else continues without it. */
  add: (worktree: string) => Promise<string | undefined>;
  remove: (worktree: string) => Promise<string | undefined>;
  /** The folders with an entry; none when the file cannot be read. `isOwn`: nothing but svc ever wrote the file. */
  folders: () => Promise<{ paths: string[]; isOwn: boolean }>;
  /** Removes the entries below a folder, and the file if nothing else was ever in it. */
  removeAll: (below: string) => Promise<string | undefined>;
};

export function createTrust(options: { home: string; config: Config; locks: FileLocks }): Trust {
  const { home, config, locks } = options;
  const file = join(home, '.claude.json');
  const agentIsClaude = basename(config.svc.orchestration.agent[0] ?? '') === 'claude';

  async function change(edit: (text: string) => string, makeIt: boolean): Promise<string | undefined> {
    try {
      return await locks.withLock(file, () => withAgentsLock(`${file}.lock`, () => rewrite(edit, makeIt)));
    } catch (error) {
      // A lock could not be taken, the disk refused, or the file is nested too deeply.
      if (error instanceof Failure || error instanceof RangeError || systemErrorCode(error) !== undefined)
        return `${file} was not changed: ${(error as Error).message}`;
      throw error;
    }
  }

  async function rewrite(edit: (text: string) => string, makeIt: boolean): Promise<string | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const before = await textOf(file);
      if (before === undefined && !makeIt) return undefined;
      const problem = before === undefined ? undefined : problemOf(before);
      if (problem !== undefined) return `${file} ${problem}, so svc did not change it.`;
      const after = edit(before ?? '{}\n');
      if (after === before) return undefined;
      if ((await textOf(file)) !== before) continue;
      await writeFileAtomically(file, after, before === undefined ? { mode: 0o600 } : {});
      return undefined;
    }
    return `Other programs keep changing ${file}, so svc did not change it.`;
  }

  return {
    add: async (worktree) =>
      change(
        (text) => setInJson(text, ['projects', worktree, 'hasTrustDialogAccepted'], true),
        agentIsClaude || (await isThere(join(home, '.claude'))),
      ),
    async folders() {
      const data = parsed(await textOf(file));
      const paths = Object.keys(isObject(data?.['projects']) ? data['projects'] : {});
      return { paths, isOwn: isSkeleton(data) };
    },
    async removeAll(below) {
      const warning = await change((text) => {
        const { projects } = parsed(text) ?? {};
        const paths = Object.keys(isObject(projects) ? projects : {});
        return paths
          .filter((path) => path.startsWith(`${below}/`))
          .reduce((rest, path) => unsetInJson(rest, ['projects', path]), text);
      }, false);
      if (warning !== undefined) return warning;
      const isEmpty = isSkeleton(parsed(await textOf(file)));
      if (isEmpty) await ifPresent(rm(file));
      return undefined;
    },
    remove: (worktree) => change((text) => unsetInJson(text, ['projects', worktree]), false),
  };
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    if (size > MAX_BYTES) throw new Failure('file-unusable', `it is too large to read (${size} bytes).`);
    return await readText(file);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function parsed(text: string | undefined): Record<string, unknown> | undefined {
  const data: unknown = parsedJson(text ?? '');
  return isObject(data) ? data : undefined;
}

/** What svc leaves of a file that it made: Claude Code writes more into its own. */
function isSkeleton(data: Record<string, unknown> | undefined): boolean {
  if (data === undefined) return false;
  const { projects, ...others } = data;
  return isObject(projects) && Object.keys(projects).length === 0 && Object.keys(others).length === 0;
}

function problemOf(text: string): string | undefined {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    return `is not valid JSON (${(error as Error).message})`;
  }
  if (!isObject(data)) return 'is not a JSON object';
  const { projects } = data;
  if (projects !== undefined && !isObject(projects)) return 'has projects that are not an object';
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function withAgentsLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  while (!(await takeFolder(folder))) {
    if (performance.now() > deadline) throw new Failure('file-busy', 'the agent is changing it.');
    await sleep(50);
  }
  try {
    return await work();
  } finally {
    await ifPresent(rmdir(folder));
  }
}

async function takeFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  }
  const stats = await ifPresent(stat(folder));
  if (stats !== undefined && Date.now() - stats.mtimeMs > STALE_LOCK_MS) await ifPresent(rmdir(folder));
  return false;
}
