// Real git repositories from the graph of a world: every change is a file, so a revert removes it and a merge with
// `-s ours` lacks it. The objects are written directly, because thousands of git processes would take minutes.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { Commit } from './steps.ts';

export interface GitRepository {
  folder: string;
  /** Writes the commit; its parents must have been added before. */
  add: (commit: Commit) => { sha: string; message: string; files: ReadonlySet<string> };
}

interface Added {
  sha: string;
  /** With itself; in the order in which they were made. */
  ancestors: ReadonlySet<string>;
  /** The names of the files. */
  files: ReadonlySet<string>;
  /** What it added to the files of its first parent. */
  added: readonly string[];
  removed: readonly string[];
}

export function createGitRepository(folder: string): GitRepository {
  const objects = join(folder, '.git', 'objects');
  const commits = new Map<string, Added>();
  mkdirSync(join(folder, '.git', 'refs', 'heads'), { recursive: true });
  mkdirSync(objects, { recursive: true });
  writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(folder, '.git', 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = false\n');

  function write(type: string, content: Buffer): string {
    const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    const sha = createHash('sha1').update(bytes).digest('hex');
    const place = join(objects, sha.slice(0, 2));
    if (!existsSync(place)) mkdirSync(place);
    writeFileSync(join(place, sha.slice(2)), deflateSync(bytes));
    return sha;
  }

  function treeOf(files: ReadonlySet<string>): string {
    const entries = [...files].toSorted().map((name) => {
      const blob = write('blob', Buffer.from(`${name}\n`));
      return Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')]);
    });
    return write('tree', Buffer.concat(entries));
  }

  /** What the other side has changed since the newest common ancestor. */
  function mergeFrom(other: Added | undefined, ours: Added | undefined, files: Set<string>): void {
    if (other === undefined) return;
    const common = [...other.ancestors].filter((id) => ours?.ancestors.has(id)).at(-1);
    const base = common === undefined ? new Set<string>() : commits.get(common)?.files;
    for (const name of other.files) if (base?.has(name) !== true) files.add(name);
    for (const name of base ?? []) if (!other.files.has(name)) files.delete(name);
  }

  function filesOf(commit: Commit): Set<string> {
    const [first, ...others] = commit.parents.map((id) => commits.get(id));
    const files = new Set(first?.files);
    if (commit.isOurs === true) return files;
    if (commit.reverts !== undefined) {
      const target = commits.get(commit.reverts);
      for (const name of target?.added ?? []) files.delete(name);
      for (const name of target?.removed ?? []) files.add(name);
      // A revert of what is not there would be empty: git refuses it, so it changes something else.
      if (sameFiles(files, first?.files)) files.add(`change-${commit.id}`);
      return files;
    }
    if (commit.picks !== undefined)
      for (const name of commits.get(commit.picks)?.added ?? []) files.add(name);
    const squashed = commit.squashes === undefined ? [] : [commits.get(commit.squashes)];
    for (const other of [...others, ...squashed]) mergeFrom(other, first, files);
    if (commit.parents.length < 2 && squashed.length === 0 && commit.picks === undefined)
      files.add(`change-${commit.id}`);
    return files;
  }

  return {
    folder,
    add(commit) {
      const parents = commit.parents.flatMap((id) => commits.get(id) ?? []);
      const files = filesOf(commit);
      const before = parents[0]?.files ?? new Set<string>();
      const seconds = 1_767_225_600 + commits.size;
      const person = `Kim <kim@example.com> ${seconds} +0000`;
      const reverted = commit.reverts === undefined ? undefined : commits.get(commit.reverts)?.sha;
      const message =
        reverted === undefined
          ? `Commit ${commit.id}`
          : `Revert "Commit ${commit.reverts}"\n\nThis reverts commit ${reverted}.`;
      const text = [
        `tree ${treeOf(files)}`,
        ...parents.map(({ sha }) => `parent ${sha}`),
        `author ${person}`,
        `committer ${person}`,
        '',
        `${message}\n`,
      ].join('\n');
      const sha = write('commit', Buffer.from(text));
      const inherited = new Set(parents.flatMap(({ ancestors }) => [...ancestors]));
      // The newest last: ids are made in order.
      const ancestors = new Set([...commits.keys()].filter((id) => inherited.has(id)).concat(commit.id));
      commits.set(commit.id, {
        sha,
        ancestors,
        files,
        added: [...files].filter((name) => !before.has(name)),
        removed: [...before].filter((name) => !files.has(name)),
      });
      return { sha, message, files };
    },
  };
}

function sameFiles(one: ReadonlySet<string>, other: ReadonlySet<string> | undefined): boolean {
  return other !== undefined && one.size === other.size && [...one].every((name) => other.has(name));
}
