// The worktrees of a project that lie in its base folder, made here or by hand, whole or half made.
import { basename, dirname } from 'node:path';
import type { WorktreeRecord } from '@svc/core';
import { type GitWorktree, gitWorktrees } from './git.ts';
import { folderIn } from './place.ts';
import { isHeld, type Room } from './room.ts';

export type ListedWorktree = {
  name: string;
  path: string;
  branch: string | null;
  head: string | null;
  state:
    | 'ready'
    | 'being made'
    | 'half made'
    | 'being removed'
    | 'half removed'
    | 'folder missing'
    | 'unknown to git';
  locked: boolean;
  /** Made by svc, and from which branch and when. */
  made: { base: string; at: string; madeBranch: boolean } | null;
};

export async function listWorktrees(room: Room): Promise<ListedWorktree[]> {
  const { git, place, records } = room;
  const [, ...entries] = await gitWorktrees(git, place.main);
  const here = new Map(
    entries
      .filter((entry) => dirname(entry.path) === place.base)
      .map((entry) => [basename(entry.path), entry]),
  );
  const names = [...new Set([...here.keys(), ...(await records.names())])].toSorted();
  const listed: ListedWorktree[] = [];
  for (const name of names) {
    const record = await records.read(name);
    const entry = here.get(name);
    // Removed while the list was being made.
    if (record === undefined && entry === undefined) continue;
    listed.push({
      name,
      path: entry?.path ?? folderIn(place.base, name),
      branch: entry === undefined ? (record?.branch ?? null) : entry.branch,
      head: entry?.head ?? null,
      state: stateOf(room, name, record, entry),
      locked: entry?.locked !== undefined && entry.locked !== null,
      made: record ? { base: record.base, at: record.createdAt, madeBranch: record.madeBranch } : null,
    });
  }
  return listed;
}

function stateOf(
  room: Room,
  name: string,
  record: WorktreeRecord | undefined,
  entry: GitWorktree | undefined,
): ListedWorktree['state'] {
  if (record?.state === 'making') return isHeld(room, name) ? 'being made' : 'half made';
  if (record?.state === 'removing') return isHeld(room, name) ? 'being removed' : 'half removed';
  if (entry === undefined) return 'unknown to git';
  return entry.missing ? 'folder missing' : 'ready';
}
