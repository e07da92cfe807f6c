// Looks at a worktree before it is removed: what git and the record say of it, and whether it may go at all.
import { readdir, realpath } from 'node:fs/promises';
import type { WorktreeRecord } from '@svc/core';
import { Failure } from '../../errors.ts';
import { tipsOf } from './bundle.ts';
import { findLosses, type Losses } from './inspect.ts';
import { isInside, isThere } from './place.ts';
import { findBase } from './refs.ts';
import { type Found, findWorktree, projectIn, type Room } from './room.ts';
import { endGroup } from './steps.ts';

const GRACE_MS = 5_000;

export type State = Found & {
  base: string;
  /** Null when there is no whole worktree to look into. */
  folder: string | null;
  branches: string[];
  /** Half made, or half removed. */
  unfinished: boolean;
};

/** What would be lost, without removing anything. */
export async function inspectWorktree(room: Room, text: string): Promise<{ name: string; losses: Losses }> {
  const { name } = await findWorktree(room, text);
  const state = await describe(room, name);
  return { name, losses: await lossesOf(room, state) };
}

/** Refuses what is never removed, force or not. */
export async function lookForRemoval(
  room: Room,
  name: string,
  currentFolder: string | undefined,
): Promise<State> {
  const state = await describe(room, name);
  const { path, record, entry } = state;
  if (state.isMain) refuse(`${path} is the main worktree of the repository; it is never removed.`);
  if (currentFolder !== undefined && isInside(path, await realpath(currentFolder)))
    refuse(`${path} is the current folder.`, 'Go to another folder first.');
  if (entry !== undefined && entry.locked !== null && !state.unfinished)
    refuse(
      `${name} is locked${entry.locked === '' ? '' : ` (${entry.locked})`}.`,
      `Unlock it: git worktree unlock ${path}`,
    );
  // A folder that git does not know may hold anything, and nothing of it could be kept.
  if (
    state.folder === null &&
    (await isThere(path)) &&
    record?.state !== 'removing' &&
    !(await isEmpty(path))
  )
    refuse(
      `${path} is not a whole worktree: git does not know it, so that nothing can be kept of it.`,
      'Mend it (git worktree repair), or move it away; then remove the worktree.',
    );
  if (record?.step) await endLeftStep(room, record.step);
  return state;
}

function refuse(message: string, remedy?: string): never {
  throw new Failure('not-allowed-now', message, remedy);
}

async function describe(room: Room, name: string): Promise<State> {
  const found = await findWorktree(room, name);
  const { record, entry, path } = found;
  const branches = [record?.branch, entry?.branch].filter((branch) => typeof branch === 'string');
  return {
    ...found,
    base: record?.base ?? (await findBase(room.git, room.place.main, undefined)).base,
    folder: entry !== undefined && (await isWhole(room, path)) ? path : null,
    branches: [...new Set(branches)],
    unfinished: record !== undefined && record.state !== 'ready',
  };
}

/** Asked in a folder that is none any more, git would answer for a repository around it. */
async function isWhole({ git }: Room, path: string): Promise<boolean> {
  if (!(await isThere(path))) return false;
  const top = await git.ask(path, ['rev-parse', '--show-toplevel']);
  return top.exitCode === 0 && top.stdout.replace(/\n$/, '') === path;
}

/** Killed between the folder and its entry, git leaves at most the file that names its entry. */
async function isEmpty(path: string): Promise<boolean> {
  return (await readdir(path)).every((name) => name === '.git');
}

export async function lossesOf(room: Room, state: State): Promise<Losses> {
  const { git, place } = room;
  const tips = await tipsOf(git, place.main, state.branches, state.entry?.head ?? null);
  return findLosses({
    git,
    main: place.main,
    worktree: state.folder,
    tips,
    branches: state.branches,
    base: state.base,
    findings: state.folder === null ? [] : await room.findings.waiting(projectIn(room, state.folder)),
  });
}

export function recordOf(room: Room, state: State): WorktreeRecord {
  return (
    state.record ?? {
      version: 1,
      name: state.name,
      branch: state.entry?.branch ?? '',
      madeBranch: false,
      base: state.base,
      start: state.entry?.head ?? '',
      createdAt: room.now().toISOString(),
      state: 'ready',
      step: null,
    }
  );
}

/** The step of a create that was killed may still be running. */
async function endLeftStep(room: Room, step: NonNullable<WorktreeRecord['step']>): Promise<void> {
  const start = (await room.processStarts([step.pid])).get(step.pid);
  if (start?.state === 'running' && start.mark === step.mark) await endGroup(step.pid, GRACE_MS);
}
