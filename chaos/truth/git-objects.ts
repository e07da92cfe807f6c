// Real git repositories from the graph of a world: a change is a file, or a few lines of a file that all share, so a revert
// removes it and a merge with `-s ours` lacks it. The objects are written directly, because thousands of git processes would take minutes.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { createHistory, SHARED } from './graph.ts';
import type { Commit } from './steps.ts';

export interface GitRepository {
  folder: string;
  /** Writes the commit; its parents must have been added before. */
  add: (commit: Commit) => { sha: string; message: string; files: Readonly<Record<string, string>> };
}

export function createGitRepository(folder: string): GitRepository {
  const objects = join(folder, '.git', 'objects');
  const history = createHistory();
  const shas = new Map<string, string>();
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

  function treeOf(files: Readonly<Record<string, string>>): string {
    const entries = Object.keys(files)
      .toSorted()
      .map((name) => {
        const blob = write('blob', Buffer.from(files[name] ?? ''));
        return Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')]);
      });
    return write('tree', Buffer.concat(entries));
  }

  return {
    folder,
    add(commit) {
      history.add(commit);
      const files = filesOf(history.parts(commit.id));
      const seconds = 1_767_225_600 + shas.size;
      const person = `Kim <kim@example.com> ${seconds} +0000`;
      const reverted = commit.isSilent === true ? undefined : shas.get(commit.reverts ?? '');
      const message =
        reverted === undefined
          ? `Commit ${commit.id}`
          : `Revert "Commit ${commit.reverts}"\n\nThis reverts commit ${reverted}.`;
      const text = [
        `tree ${treeOf(files)}`,
        ...commit.parents.flatMap((id) => (shas.has(id) ? [`parent ${shas.get(id)}`] : [])),
        `author ${person}`,
        `committer ${person}`,
        '',
        `${message}\n`,
      ].join('\n');
      const sha = write('commit', Buffer.from(text));
      shas.set(commit.id, sha);
      return { sha, message, files };
    },
  };
}

const SECTIONS = 60;

/** The shared file has a section for each change, with lines between them that nobody changes. */
function filesOf(parts: ReadonlySet<string>): Record<string, string> {
  const own = [...parts].filter((name) => !name.startsWith(SHARED));
  const files = Object.fromEntries(own.map((name) => [name, `${name}\n`]));
  if (own.length === parts.size) return files;
  const lines = Array.from({ length: SECTIONS }, (_, section) => [
    `The beginning of section ${section}`,
    ...[...parts].filter((name) => sectionOf(name) === section).flatMap(linesOf),
    `The end of section ${section}`,
    '',
  ]);
  return { ...files, shared: `${lines.flat().join('\n')}\n` };
}

function sectionOf(name: string): number | undefined {
  const id = name.startsWith(SHARED) ? name.slice(SHARED.length + 1) : '';
  return /^\d+$/.test(id) ? Number(id) % SECTIONS : undefined;
}

const linesOf = (name: string): string[] => [1, 2, 3].map((line) => `Line ${line} of ${name}`);
