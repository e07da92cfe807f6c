// The files of a worktree, and its changes since it left its base branch: committed, uncommitted and untracked, with diffs.
// The agent owns the worktree and can write the repository's settings: an attribute cannot make a text look like a binary
// file, and not even the person's own filters run.
import { constants } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import type { GitOptions } from '@svc/lib/git';
import { linesOf } from '@svc/lib/git';
import { lstat, openFile, readlink } from '@svc/lib/paths';
import { Failure } from '../../../kernel/failure.ts';
import type { WorktreeChanges } from '../../agents/api.ts';
import { folderIn, type WorktreeContext } from './context.ts';
import { findBase, gitWorktrees } from './git.ts';
import { OWN_FILE } from './inspect.ts';

const MOST_FILES = 500;
const MOST_DIFF = 1024 * 1024;
const MOST_FILE_DIFF = 200 * 1024;
const LIST_BYTES = 16 * 1024 * 1024;

export type Changes = Omit<WorktreeChanges, 'ticket' | 'orchestrator'>;
type ChangedFile = Changes['files'][number];
/** `sections`: how many parts a diff has for it; a file that became a link has two. */
type Listed = ChangedFile & { sections: number };

/** As it is now, also while the agent changes it: a file whose diff does not fit to the list has none. */
export async function worktreeChanges(
  context: WorktreeContext,
  name: string,
  base: string,
): Promise<Changes> {
  const { git, layout } = context;
  const worktree = await existingWorktree(context, name);
  const { start } = await findBase(git, layout.main, base);
  const common = await git.ask(worktree, ['merge-base', 'HEAD', start], quiet);
  const [baseSha] = linesOf(common.stdout);
  if (common.exitCode !== 0 || baseSha === undefined)
    throw new Failure('not-allowed-now', `${name} and ${base} have no common commit to compare with.`);
  const diff = (args: readonly string[], maxBytes: number): Promise<string | undefined> =>
    git.runUpTo(worktree, ['diff', ...fixed, ...args], { ...quiet, maxBytes });
  const tracked = listedIn(
    (await diff(['--raw', '--numstat', '-z', baseSha, '--'], LIST_BYTES)) ?? tooMany(),
  );
  const others = await listed(context, worktree, ['--others', '--exclude-standard']);
  const untracked = others ?? [];
  const all = [...tracked, ...untracked.map(newFile)].toSorted((one, other) =>
    one.path < other.path ? -1 : 1,
  );
  const shown = all.slice(0, MOST_FILES);
  const parts = await diffsOf(
    shown.filter(({ status }) => status !== 'untracked'),
    (paths) => diff(['-p', '--text', baseSha, '--', ...paths], MOST_DIFF),
    { left: MOST_DIFF },
  );
  const files: ChangedFile[] = [];
  let left = MOST_DIFF;
  for (const { sections: _, ...file } of shown) {
    const text =
      file.status === 'untracked' ? await untrackedDiff(worktree, file.path) : parts.get(file.path);
    const read = withDiff(file, text, left);
    left -= read.diff.length;
    files.push(read);
  }
  return { worktree, base, baseSha, files, cut: all.length > shown.length || others === undefined };
}

async function existingWorktree({ git, layout }: WorktreeContext, name: string): Promise<string> {
  const worktree = folderIn(layout.base, name);
  const entries = await gitWorktrees(git, layout.main);
  if (!entries.some(({ path, missing }) => path === worktree && !missing))
    throw new Failure('not-allowed-now', `${name} has no worktree now.`, 'See: svc worktree list');
  return worktree;
}

/** Paths, whatever characters they have; undefined: too many to list. */
async function listed(
  { git }: WorktreeContext,
  worktree: string,
  which: readonly string[],
): Promise<string[] | undefined> {
  const text = await git.runUpTo(worktree, ['ls-files', '-z', ...which], { ...quiet, maxBytes: LIST_BYTES });
  return text?.split('\0').filter((path) => path !== '' && path !== OWN_FILE);
}

const MOST_FOUND = 50;

/**
 * The files of a worktree whose path contains the query, those whose name begins with it first. A path that cannot be
 * written into one line of a message is left out.
 */
export async function worktreeFiles(
  context: WorktreeContext,
  name: string,
  query: string,
): Promise<{ files: string[]; cut: boolean }> {
  const worktree = await existingWorktree(context, name);
  const all = await listed(context, worktree, ['--cached', '--others', '--exclude-standard']);
  const wanted = query.toLowerCase();
  const found = [...new Set(all)].filter(
    (path) =>
      path.length <= LONGEST_PATH &&
      path.toLowerCase().includes(wanted) &&
      !/[\p{C}\p{Zl}\p{Zp}]/u.test(path),
  );
  const rank = (path: string): number => {
    const at = path.toLowerCase().lastIndexOf('/') + 1;
    const file = path.toLowerCase().slice(at);
    return file.startsWith(wanted)
      ? 0
      : path.toLowerCase().startsWith(wanted)
        ? 1
        : file.includes(wanted)
          ? 2
          : 3;
  };
  const sorted = found.toSorted(
    (one, other) => rank(one) - rank(other) || one.length - other.length || (one < other ? -1 : 1),
  );
  return { files: sorted.slice(0, MOST_FOUND), cut: all === undefined || sorted.length > MOST_FOUND };
}

const LONGEST_PATH = 1_000;

const quiet: GitOptions = {
  isWorktree: true,
  environment: { GIT_LITERAL_PATHSPECS: '1', GIT_DIFF_OPTS: '' },
};

/** Settings of the user or the repository must not change the format. */
const fixed = [
  ['--no-ext-diff', '--no-textconv', '--no-color', '--no-relative', '--ignore-submodules=dirty'],
  ['--submodule=short', '--src-prefix=a/', '--dst-prefix=b/', '-U3', '--inter-hunk-context=0', '-O/dev/null'],
  ['--find-renames', '-l1000', '--abbrev=12'],
].flat();

function tooMany(): never {
  throw new Failure('file-unusable', 'The worktree has too many changed files to list.');
}

const statuses: Readonly<Record<string, ChangedFile['status']>> = {
  A: 'added',
  M: 'modified',
  T: 'modified',
  D: 'deleted',
  R: 'renamed',
};

/** The records of `--raw --numstat -z`; the paths are as they are, whatever characters they have. */
function listedIn(text: string): Listed[] {
  const records = text.split('\0');
  const files = new Map<string, Listed>();
  for (let at = 0; at < records.length; ) {
    const [, letter = ''] = /^:\d+ \d+ \S+ \S+ ([A-Z])\d*$/.exec(records[at] ?? '') ?? [];
    const [, added, removed, path] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(records[at] ?? '') ?? [];
    if (letter !== '') {
      const from = letter === 'R' ? (records[at + 1] ?? '') : null;
      const to = records[at + (from === null ? 1 : 2)] ?? '';
      const status = statuses[letter];
      // An unmerged file has a second record with its changes.
      if (status !== undefined)
        files.set(to, { ...newFile(to), from, status, sections: letter === 'T' ? 2 : 1 });
      at += from === null ? 2 : 3;
    } else if (path !== undefined) {
      const name = path === '' ? (records[at + 2] ?? '') : path;
      const file = files.get(name);
      if (file !== undefined) files.set(name, { ...file, added: countIn(added), removed: countIn(removed) });
      at += path === '' ? 3 : 1;
    } else at += 1;
  }
  return [...files.values()];
}

function countIn(text: string | undefined): number | null {
  return text === undefined || text === '-' ? null : Number(text);
}

function newFile(path: string): Listed {
  return {
    path,
    from: null,
    status: 'untracked',
    added: null,
    removed: null,
    diff: '',
    cut: false,
    sections: 1,
  };
}

/** By path. A list whose diff is too long is halved until it fits; what does not fit alone has none. */
async function diffsOf(
  files: readonly Listed[],
  diff: (paths: readonly string[]) => Promise<string | undefined>,
  budget: { left: number },
): Promise<Map<string, string>> {
  if (files.length === 0 || budget.left <= 0) return new Map();
  const paths = files.flatMap(({ from, path }) => (from === null ? [path] : [from, path]));
  const sections = (await diff(paths))?.split(/(?<=\n)(?=diff --git )/);
  if (sections?.length === files.reduce((sum, file) => sum + file.sections, 0)) {
    let at = 0;
    const found = files.map(({ path, sections: count }): [string, string] => {
      const text = sections.slice(at, at + count).join('');
      at += count;
      budget.left -= text.length <= MOST_FILE_DIFF ? text.length : 0;
      return [path, text];
    });
    return new Map(found);
  }
  if (files.length === 1) return new Map();
  const half = files.length >> 1;
  return new Map([
    ...(await diffsOf(files.slice(0, half), diff, budget)),
    ...(await diffsOf(files.slice(half), diff, budget)),
  ]);
}

function withDiff(file: ChangedFile, text: string | undefined, left: number): ChangedFile {
  if (text === undefined) return { ...file, cut: true };
  if (text.includes('\0')) return { ...file, added: null, removed: null };
  const lines = text.slice(text.indexOf('\n@@ ') + 1).split('\n');
  const counts = text.includes('\n@@ ')
    ? { added: countOf(lines, '+'), removed: countOf(lines, '-') }
    : { added: 0, removed: 0 };
  const isLong = text.length > MOST_FILE_DIFF || text.length > left;
  return { ...file, ...counts, diff: isLong ? '' : text, cut: isLong };
}

/** Counts only lines of hunks; a file that became a link has headers between them. */
function countOf(lines: readonly string[], sign: '+' | '-'): number {
  let isHeader = false;
  let count = 0;
  for (const line of lines) {
    if (line.startsWith('diff --git ')) isHeader = true;
    else if (line.startsWith('@@ ')) isHeader = false;
    else if (!isHeader && line.startsWith(sign)) count += 1;
  }
  return count;
}

/** Read without git, so no filter can see it. Undefined when it is too large, or no file (any more). */
async function untrackedDiff(worktree: string, path: string): Promise<string | undefined> {
  const file = join(worktree, path);
  try {
    const kind = await lstat(file);
    if (kind.isSymbolicLink()) return asNew(path, '120000', await readlink(file));
    if (!kind.isFile() || kind.size > MOST_FILE_DIFF) return undefined;
    const handle = await openFile(file, {
      flags: constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    });
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(MOST_FILE_DIFF), 0, MOST_FILE_DIFF, 0);
      const mode = (kind.mode & 0o100) === 0 ? '100644' : '100755';
      return asNew(path, mode, buffer.toString('utf8', 0, bytesRead));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}

function asNew(path: string, mode: string, content: string): string {
  const head = `diff --git ${quoted(`a/${path}`)} ${quoted(`b/${path}`)}\nnew file mode ${mode}\n`;
  if (content === '') return head;
  const ends = content.endsWith('\n');
  const lines = (ends ? content.slice(0, -1) : content).split('\n');
  return [
    `${head}--- /dev/null`,
    `+++ ${quoted(`b/${path}`)}`,
    `@@ -0,0 +1,${lines.length} @@`,
    ...lines.map((line) => `+${line}`),
    ...(ends ? [] : [String.raw`\ No newline at end of file`]),
    '',
  ].join('\n');
}

function quoted(text: string): string {
  return /["\\\p{Cc}]/u.test(text) ? JSON.stringify(text) : text;
}
