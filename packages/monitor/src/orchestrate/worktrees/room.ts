// What every part of worktrees works with.
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Config,
  type Environment,
  type RepositoryFacts,
  type SetupVariables,
  safeSegment,
  setupVariables,
  type WorktreeRecord,
  worktreeNameOf,
} from '@svc/core';
import { type FileLocks, type Hold, tryHold } from '../../disk/lock.ts';
import { Failure } from '../../errors.ts';
import type { ReadProcessStarts } from '../../runs/processes.ts';
import type { Findings } from './findings.ts';
import { type Git, type GitWorktree, gitWorktrees } from './git.ts';
import { plain } from './loss-words.ts';
import { folderIn, type Place } from './place.ts';
import { type Records } from './records.ts';
import type { Trust } from './trust.ts';

const HOLD_PATIENCE_MS = 500;

export type Room = {
  git: Git;
  place: Place;
  records: Records;
  trust: Trust;
  config: Config;
  locks: FileLocks;
  locksDir: string;
  /** Where the context stores of all profiles are. */
  thoughtsRoot: string;
  findings: Findings;
  environment: Environment;
  stepTimeoutMs: number;
  processStarts: ReadProcessStarts;
  now: () => Date;
};

/** The project's folder in a worktree. */
export const projectIn = ({ place }: Room, worktree: string): string => join(worktree, place.inside);

export const logFile = (place: Place, name: string): string => join(place.base, '.logs', `${name}.log`);

/** Alone with a name, between processes too; undefined when somebody else is at it. */
export async function holdName(room: Room, name: string): Promise<Hold | undefined> {
  const deadline = performance.now() + HOLD_PATIENCE_MS;
  for (;;) {
    const hold = tryHold(lockFileOf(room, name));
    if (hold !== undefined || performance.now() > deadline) return hold;
    // `list` holds a name for a moment, to see whether somebody else does.
    await sleep(20);
  }
}

export function isHeld(room: Room, name: string): boolean {
  const hold = tryHold(lockFileOf(room, name));
  hold?.release();
  return hold === undefined;
}

function lockFileOf({ locksDir, place }: Room, name: string): string {
  const mark = createHash('sha256').update(join(place.base, name)).digest('hex').slice(0, 16);
  return join(locksDir, `worktree-${name.slice(0, 60)}-${mark}.lock`);
}

export type Found = {
  name: string;
  path: string;
  record: WorktreeRecord | undefined;
  /** As git has it. */
  entry: GitWorktree | undefined;
  isMain: boolean;
};

/** A worktree by the name of its folder or of its branch. */
export async function findWorktree(room: Room, text: string): Promise<Found> {
  const named = worktreeNameOf(text);
  const names = [...(safeSegment(text) ? [text] : []), ...(named.ok ? [named.folder] : [])];
  const entries = await gitWorktrees(room.git, room.place.main);
  for (const name of new Set(names)) {
    const path = folderIn(room.place.base, name);
    const record = await room.records.read(name);
    const at = entries.findIndex((entry) => entry.path === path);
    if (record !== undefined || at >= 0) return { name, path, record, entry: entries[at], isMain: at === 0 };
  }
  const byBranch = entries.find((entry) => entry.branch === text && dirname(entry.path) === room.place.base);
  if (byBranch !== undefined && safeSegment(basename(byBranch.path)) && basename(byBranch.path) !== text)
    return findWorktree(room, basename(byBranch.path));
  throw new Failure(
    'not-registered',
    `There is no worktree ${JSON.stringify(plain(text))} in ${room.place.base}.`,
    'See: svc worktree list',
  );
}

export async function variablesOf(room: Room, path: string, branch: string): Promise<SetupVariables> {
  return setupVariables(path, branch, await repositoryFacts(room));
}

export async function repositoryFacts({ git, place, config }: Room): Promise<RepositoryFacts> {
  const { svc } = config;
  const remote = await git.ask(place.main, ['config', '--get', 'remote.origin.url']);
  return {
    repository: svc.repository,
    thoughts: svc.thoughts,
    projectKey: svc.projectKey,
    remoteUrl: remote.exitCode === 0 ? remote.stdout.trim() : undefined,
    folderName: basename(place.main),
  };
}

/** Remembers the process of a step, so that it can be ended when this process was killed before it. */
export async function rememberStep(room: Room, record: WorktreeRecord, pid: number): Promise<void> {
  const start = (await room.processStarts([pid])).get(pid);
  if (start?.state !== 'running') return;
  await room.records.write({ ...record, step: { pid, mark: start.mark } });
}

export async function forgetLog(place: Place, name: string): Promise<void> {
  await rm(logFile(place, name), { force: true });
}
