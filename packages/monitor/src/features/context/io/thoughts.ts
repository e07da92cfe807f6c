// `thoughts/` of a new worktree: links into the context store, so what is written there is available in every worktree
// at once and stays when one is removed. Nothing existing is replaced: a folder of the repository, or one that a setup
// command made, stays as it is.
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { copyFile, lstat, readdir, writeNewFile } from '@svc/lib/paths';
import { Failure } from '../../../kernel/failure.ts';
import type { RepositoryFacts } from '../setup-variables.ts';
import { SHARED, thoughtsPlace } from '../workflow-context.ts';

export type Thoughts = {
  store: string;
  /** The parts of the store that the worktree now has links to. */
  linked: string[];
  /** How many files of the main worktree are new in the store. */
  added: number;
};

/** Makes the store and the links to it, then copies what only the main worktree has into the store. */
export async function initThoughts(options: {
  worktree: string;
  main: string;
  /** The project's folder in both of them; empty when it is the root. */
  inside: string;
  /** Where the stores of all profiles are. */
  root: string;
  facts: RepositoryFacts;
  /** Whether the repository contains a `thoughts/`: then that one is used, and git tracks it. */
  isTracked: boolean;
}): Promise<Thoughts> {
  const { worktree, isTracked } = options;
  const thoughts = [...options.inside.split('/').filter((name) => name !== ''), 'thoughts'];
  const place = thoughtsPlace(options.facts);
  if (!place.ok)
    throw new Failure(
      'config-invalid',
      `${place.key} must be a folder name of the context store, found ${JSON.stringify(place.value)}.`,
      `Set another: svc config set ${place.key} <name>`,
    );
  const store = join(options.root, place.store);
  try {
    for (const folder of place.folders) await mkdir(join(store, folder), { recursive: true });
    if (isTracked) {
      for (const folder of place.folders) await makeFolders(worktree, [...thoughts, ...folder.split('/')]);
      return { store, linked: [], added: 0 };
    }
    const isFolder = await makeFolders(worktree, thoughts);
    const linked = isFolder ? await linkParts(join(worktree, ...thoughts), store, place.parts) : [];
    const main = join(options.main, ...thoughts);
    let added = 0;
    for (const part of place.parts) added += await addMissing(join(main, part), join(store, part));
    return { store, linked, added };
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    const { path = store } = error as NodeJS.ErrnoException;
    throw new Failure(
      'file-unusable',
      `The context store cannot be set up: ${path} (${code}).`,
      'Check that the disk has free space and the folder is writable, then create the worktree again.',
      { cause: error },
    );
  }
}

/** Returns the links that were made. Git ignores these, and nothing else in the folder. */
async function linkParts(folder: string, store: string, parts: readonly string[]): Promise<string[]> {
  const linked: string[] = [];
  for (const part of parts) {
    const isMade = await unlessThere(symlink(join(store, part), join(folder, part)));
    if (isMade) linked.push(part);
    // One that a setup command made: handoffs get a folder in it.
    else if (part === SHARED) await makeFolders(folder, [SHARED, 'handoffs']);
  }
  const ignored = ['.gitignore', ...linked].map((name) => `/${name.replaceAll(/[\\*?[\]!# ]/g, '\\$&')}\n`);
  if (linked.length > 0) await unlessThere(writeNewFile(join(folder, '.gitignore'), ignored.join(''), 0o666));
  return linked;
}

/** Makes the missing folders, each inside the one before. Stops at a link, so nothing is made elsewhere. */
async function makeFolders(at: string, names: readonly string[]): Promise<boolean> {
  let path = at;
  for (const name of names) {
    path = join(path, name);
    if ((await unlessThere(mkdir(path))) || (await lstat(path)).isDirectory()) continue;
    return false;
  }
  return true;
}

/** Copies missing files; links and anything else that is not a plain file are skipped. */
async function addMissing(from: string, to: string): Promise<number> {
  const stats = await ifPresent(lstat(from));
  if (stats?.isFile()) return (await unlessThere(copyFile(from, to, 'keep'))) ? 1 : 0;
  if (!stats?.isDirectory()) return 0;
  await mkdir(to, { recursive: true });
  let added = 0;
  for (const name of await readdir(from)) added += await addMissing(join(from, name), join(to, name));
  return added;
}

async function unlessThere(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}
