// Whether a deployed commit has the change of a merge, by git in a clone. Being an ancestor is not enough: the change may have
// been reverted, taken out without a word, or discarded by a merge that kept the other side. So its lines are looked for
// (`hunks.ts`); where later changes touch all of them, the messages of the commits in between decide, then what became of
// the lines in each of these commits.
//
// The clone belongs to an agent, and git believes what is stored there: an object may be overwritten with another content. So
// the clone only says which objects matter; they are copied into a store of our own, where each gets the id of its content,
// and are judged there. What is missing then, or has another id, is no answer.
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunGit } from '@svc/lib/git';
import { writeNewFile } from '@svc/lib/paths';
import type { CommandEnd } from '@svc/lib/process';
import { type Diff, lineage, moved, parseDiff, type Step, statesOf } from '../hunks.ts';
import { type CommitMessage, isReverted } from '../reverts.ts';

export type Pair = { mergeSha: string; sha: string };

export type Containment = { contains: true } | { contains: false; reverted: boolean };

const GIT_TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_COPIED_BYTES = 256 * 1024 * 1024;
/** Names in commits between the merge and the deployed one. */
const MAX_LOOKED_UP = 20_000;

const environment = {
  GIT_LITERAL_PATHSPECS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_GRAFT_FILE: '/dev/null',
};
const settings = [
  '-c',
  'core.commitGraph=false',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
];
const plainDiff = [
  '-p',
  '-U0',
  '--full-index',
  '--no-color',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--diff-algorithm=myers',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];
const changedObjects = ['diff-tree', '-r', '-t', '--raw', '--no-abbrev', '--no-renames', '-z'];

type Git = (folder: string, args: readonly string[], more?: { input?: string }) => Promise<CommandEnd>;

/** Undefined when the clone cannot answer. */
export async function askGit(
  runGit: RunGit,
  clone: string,
  pair: Pair,
  signal: AbortSignal,
): Promise<Containment | undefined> {
  const git: Git = (folder, args, more = {}) =>
    runGit(folder, [...settings, ...args], {
      environment,
      timeoutMs: GIT_TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      ...(more.input !== undefined && { input: more.input }),
      signal,
    });
  const { mergeSha, sha } = pair;
  const asked = await git(clone, ['merge-base', '--is-ancestor', '--end-of-options', mergeSha, sha]);
  if (asked.ended !== 'exit' || asked.exitCode > 1) return undefined;
  if (asked.exitCode === 1) {
    // A shallow clone does not know that one commit is before another.
    const shallow = await git(clone, ['rev-parse', '--is-shallow-repository']);
    const isWhole = shallow.ended === 'exit' && shallow.stdout.trim() === 'false';
    return isWhole ? { contains: false, reverted: false } : undefined;
  }
  if (mergeSha === sha) return { contains: true };

  const folder = await mkdtemp(join(tmpdir(), 'svc-proof-'));
  try {
    const copy = createCopy(git, clone, folder, pair);
    return (await copy.start()) ? await judge(git, clone, copy, pair) : undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Evidence = {
  merged: Diff;
  sinceParent: Diff;
  sinceMerge: Diff;
  reverted: () => Promise<boolean | undefined>;
  /** The commits in between, with what became of the lines in each. */
  steps: () => Promise<readonly Step[] | undefined>;
  /** The files that the merge did not touch, too. */
  everySinceParent: () => Promise<Diff | undefined>;
};

/** The evidence for a merge that changed no file. */
export const nothingChanged: Omit<Evidence, 'reverted'> = {
  merged: new Map(),
  sinceParent: new Map(),
  sinceMerge: new Map(),
  steps: async () => [],
  everySinceParent: async () => new Map(),
};

/** Undefined: what is there cannot be compared. */
export async function decide(mergeSha: string, evidence: Evidence): Promise<Containment | undefined> {
  const { merged, sinceParent, sinceMerge } = evidence;
  const states = statesOf(merged, sinceParent, sinceMerge);
  if (states.length > 0 && states.every((state) => state === 'in')) return { contains: true };
  const reverted = await evidence.reverted();
  if (reverted === undefined) return undefined;
  if (reverted) return { contains: false, reverted };
  if (states.length === 0 || states.includes('in')) return { contains: true };
  const steps = states.includes('changed') ? await evidence.steps() : [];
  const origins = states.includes('changed') ? steps && lineage(mergeSha, steps) : states;
  if (origins?.includes('in')) return { contains: true };
  if (origins === undefined || origins.length === 0 || origins.some((origin) => origin !== 'out'))
    return undefined;
  const every = await evidence.everySinceParent();
  const where = every && moved(merged, every);
  if (where === 'all') return { contains: true };
  return where === 'none' ? { contains: false, reverted: true } : undefined;
}

type Copy = ReturnType<typeof createCopy>;

/** A store with what decides: the commits from the merge on, the change of the merge, and what became of its files. */
function createCopy(git: Git, clone: string, folder: string, { mergeSha, sha }: Pair) {
  const store = join(folder, 'store');
  const printed = async (args: readonly string[], input?: string): Promise<string | undefined> => {
    const end = await git(clone, args, input === undefined ? {} : { input });
    return end.ended === 'exit' && end.exitCode === 0 ? end.stdout : undefined;
  };

  async function add(ids: ReadonlySet<string>): Promise<boolean> {
    const sizes = await printed(['cat-file', '--batch-check=%(objectsize)'], [...ids, ''].join('\n'));
    const total = linesIn(sizes ?? 'none').reduce((sum, size) => sum + Number(size), 0);
    // Not a number: one is missing.
    if (!(total <= MAX_COPIED_BYTES)) return false;
    const name = await printed(['pack-objects', '-q', join(folder, 'copied')], [...ids, ''].join('\n'));
    if (name === undefined) return false;
    // Only the pack: its index has the ids that the clone gave.
    const pack = join(store, 'objects', 'pack', `pack-${name.trim()}.pack`);
    await rename(join(folder, `copied-${name.trim()}.pack`), pack);
    return isOk(await git(store, ['index-pack', pack]));
  }

  async function start(): Promise<boolean> {
    const range = ['--end-of-options', `${mergeSha}..${sha}`, '--'];
    const listed = await printed(['rev-list', '--parents', '-n', '1', '--end-of-options', mergeSha, '--']);
    const between = await printed(['rev-list', '--boundary', ...range]);
    const trees = await printed(['ls-tree', '-r', '-d', '-t', '--full-tree', '-z', sha]);
    const [, parent] = (listed ?? '').trim().split(' ');
    const change = await printed([
      ...changedObjects,
      ...(parent === undefined ? ['--root'] : [parent]),
      mergeSha,
    ]);
    const since = await printed([...changedObjects, mergeSha, sha]);
    if ([listed, between, trees, change, since].includes(undefined)) return false;
    const commits = linesIn(between ?? '');
    /** Older ones are not copied. */
    const oldest = [
      ...commits.filter((id) => id.startsWith('-')).map((id) => id.slice(1)),
      mergeSha,
      ...(parent === undefined ? [] : [parent]),
    ];
    const compared = [mergeSha, sha, ...(parent === undefined ? [] : [parent])];
    const own = entriesIn(change ?? '');
    const paths = new Set(own.map(({ path }) => path));
    const roots = await printed(
      ['cat-file', '--batch-check=%(objectname)'],
      compared.map((id) => `${id}^{tree}\n`).join(''),
    );
    const format = sha.length === 40 ? 'sha1' : 'sha256';
    const made = await git(folder, [
      'init',
      '-q',
      '--bare',
      '--template=',
      `--object-format=${format}`,
      store,
    ]);
    if (!isOk(made)) return false;
    await writeNewFile(join(store, 'shallow'), [...new Set(oldest), ''].join('\n'));
    return await add(
      new Set([
        ...commits.map((id) => id.replace('-', '')),
        ...oldest,
        ...linesIn(roots ?? ''),
        ...treesIn(trees ?? ''),
        ...own.flatMap(({ ids: both }) => both),
        ...entriesIn(since ?? '').flatMap(({ path, ids: both }) => (paths.has(path) ? both : [])),
      ]),
    );
  }

  /** These files as they are in each of the commits. */
  async function addFiles(commits: readonly string[], paths: readonly string[]): Promise<boolean> {
    const names = new Set(['', ...paths, ...paths.flatMap(foldersAbove)]);
    if (commits.length * names.size > MAX_LOOKED_UP || [...names].some((name) => name.includes('\n')))
      return false;
    const wanted = commits.flatMap((commit) => [...names].map((name) => `${commit}:${name}\n`)).join('');
    const found = await printed(['cat-file', '--batch-check=%(objecttype) %(objectname)'], wanted);
    const ids = linesIn(found ?? '').flatMap((line) => /^(?:blob|tree) (\w+)$/.exec(line)?.[1] ?? []);
    return ids.length > 0 && (await add(new Set(ids)));
  }

  return { store, start, addFiles };
}

function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
}

const linesIn = (output: string): string[] => output.split('\n').filter((line) => line !== '');

const treesIn = (output: string): string[] =>
  output.split('\0').flatMap((entry) => /^\d+ tree (\w+)\t/.exec(entry)?.[1] ?? []);

/** Files and folders that differ, with both ids; a submodule has no object here. */
function entriesIn(output: string): { path: string; ids: string[] }[] {
  const entries: { path: string; ids: string[] }[] = [];
  const parts = output.split('\0');
  for (const [at, part] of parts.entries()) {
    const [, before = '', after = '', idBefore = '', idAfter = ''] =
      /^:(\d+) (\d+) (\w+) (\w+) /.exec(part) ?? [];
    const sides = [
      [before, idBefore],
      [after, idAfter],
    ];
    const ids = sides.flatMap(([mode, id = '']) => (/^(0+|160000|)$/.test(mode ?? '') ? [] : [id]));
    if (ids.length > 0) entries.push({ path: parts[at + 1] ?? '', ids });
  }
  return entries;
}

const isOk = (end: CommandEnd): boolean => end.ended === 'exit' && end.exitCode === 0;

async function judge(
  git: Git,
  clone: string,
  { store, addFiles }: Copy,
  pair: Pair,
): Promise<Containment | undefined> {
  const { mergeSha, sha } = pair;
  const printed = async (
    folder: string,
    args: readonly string[],
    input?: string,
  ): Promise<string | undefined> => {
    const end = await git(folder, args, input === undefined ? {} : { input });
    return end.ended === 'exit' && end.exitCode === 0 ? end.stdout : undefined;
  };
  if (!isOk(await git(store, ['merge-base', '--is-ancestor', '--end-of-options', mergeSha, sha])))
    return undefined;
  const commit = await printed(store, ['cat-file', 'commit', mergeSha]);
  if (commit === undefined) return undefined;
  const range = ['--end-of-options', `${mergeSha}..${sha}`, '--'];
  const reverted = async (): Promise<boolean | undefined> => {
    const between = await printed(store, ['log', '--format=%H%n%B%x00', ...range]);
    return between === undefined ? undefined : isReverted(mergeSha, messagesIn(between));
  };

  // Without its history here, the merge itself has no parents for git.
  const [, parent] = /^tree \w+\nparent (\w+)\n/.exec(commit) ?? [];
  const names =
    parent === undefined
      ? ''
      : await printed(store, [
          'diff-tree',
          '-r',
          '--no-renames',
          '--name-only',
          '-z',
          parent,
          mergeSha,
          '--',
        ]);
  if (names === undefined) return undefined;
  const paths = names.split('\0').filter((path) => path !== '');
  if (parent === undefined || paths.length === 0) return decide(mergeSha, { ...nothingChanged, reverted });
  const compare = async (folder: string, from: string, to: string, of: readonly string[] = []) => {
    const text = await printed(folder, ['diff-tree', ...plainDiff, from, to, '--', ...of]);
    return text === undefined ? undefined : parseDiff(text);
  };

  async function steps(): Promise<readonly Step[] | undefined> {
    const listed = await printed(store, ['rev-list', '--topo-order', '--reverse', '--parents', ...range]);
    const commits = linesIn(listed ?? '').map((line) => line.split(' '));
    const ids = commits.map(([id = '']) => id);
    if (ids.length === 0 || !(await addFiles(ids, paths))) return undefined;
    const from = async (older: string) => {
      const pairs = ids.map((id) => `${id} ${older}\n`).join('');
      const text = await printed(store, ['diff-tree', '--stdin', ...plainDiff, '--', ...paths], pairs);
      return text === undefined ? undefined : byCommit(text);
    };
    const [older, newer] = [await from(parent ?? ''), await from(mergeSha)];
    if (merged === undefined || older === undefined || newer === undefined) return undefined;
    return commits.map(([id = '', ...parents]) => {
      const content = newer.get(id) ?? '';
      const states = statesOf(merged, parseDiff(older.get(id) ?? ''), parseDiff(content));
      return { sha: id, parents, states, content };
    });
  }

  const merged = await compare(store, parent, mergeSha, paths);
  const sinceParent = await compare(store, parent, sha, paths);
  const sinceMerge = await compare(store, mergeSha, sha, paths);
  if (merged === undefined || sinceParent === undefined || sinceMerge === undefined) return undefined;
  // The clone may be believed about other files: they can only make the answer less certain.
  const everySinceParent = () => compare(clone, parent, sha);
  return decide(mergeSha, { merged, sinceParent, sinceMerge, reverted, steps, everySinceParent });
}

/** What `diff-tree --stdin` prints for each commit; nothing for one that does not differ. */
function byCommit(output: string): Map<string, string> {
  const texts = new Map<string, string>();
  const parts = output.split(/^([0-9a-f]{40}|[0-9a-f]{64})$\n?/m);
  for (let at = 1; at < parts.length; at += 2) texts.set(parts[at] ?? '', parts[at + 1] ?? '');
  return texts;
}

function messagesIn(output: string): CommitMessage[] {
  return output
    .split('\0')
    .map((entry) => entry.trimStart())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const end = entry.indexOf('\n');
      return end === -1
        ? { sha: entry, message: '' }
        : { sha: entry.slice(0, end), message: entry.slice(end + 1) };
    });
}
