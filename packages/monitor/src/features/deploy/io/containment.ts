// Whether a deployed commit has the change of a merge. Being an ancestor is not enough: the change may have been reverted, or
// discarded by a merge that kept the other side. So the change itself is looked for: if it can be taken out of the deployed
// tree, it is in there; if it can be put in once more, it is not. Where later changes touch the same lines, the messages of
// the commits in between decide.
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunGit } from '@svc/lib/git';
import { writeNewFile } from '@svc/lib/paths';
import type { CommandEnd } from '@svc/lib/process';
import { z } from 'zod';
import { type Gh, parsed } from '../../codehost/gh.ts';
import type { CodehostProblem } from '../../codehost/problem.ts';
import { type CommitMessage, isReverted } from '../reverts.ts';

export type Pair = { mergeSha: string; sha: string };

export type Containment = { contains: true } | { contains: false; reverted: boolean };

const GIT_TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_COPIED_BYTES = 256 * 1024 * 1024;

// By git in a clone. The clone belongs to an agent, and git believes what is stored there: an object may be overwritten
// with another content. So the clone only says which objects matter; they are copied into a store of our own, where each
// gets the id of its content, and are judged there. What is missing then, or has another id, is no answer.

const environment = {
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
  '-U3',
  '--binary',
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

type Git = (
  folder: string,
  args: readonly string[],
  more?: { input?: string; index?: string },
) => Promise<CommandEnd>;

/** Undefined when the clone cannot answer. */
export async function askGit(
  runGit: RunGit,
  clone: string,
  pair: Pair,
  signal: AbortSignal,
): Promise<Containment | undefined> {
  const git: Git = (folder, args, more = {}) =>
    runGit(folder, [...settings, ...args], {
      environment: { ...environment, ...(more.index !== undefined && { GIT_INDEX_FILE: more.index }) },
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
    const store = await copyObjects(git, clone, folder, pair);
    return store === undefined ? undefined : await judge(git, store, join(folder, 'index'), pair);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What decides: the commits from the merge on, the change of the merge, and what became of its files. */
async function copyObjects(
  git: Git,
  clone: string,
  folder: string,
  { mergeSha, sha }: Pair,
): Promise<string | undefined> {
  const printed = async (args: readonly string[], input?: string): Promise<string | undefined> => {
    const end = await git(clone, args, input === undefined ? {} : { input });
    return end.ended === 'exit' && end.exitCode === 0 ? end.stdout : undefined;
  };
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
  if ([listed, between, trees, change, since].includes(undefined)) return undefined;
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
  const ids = new Set([
    ...commits.map((id) => id.replace('-', '')),
    ...oldest,
    ...linesIn(roots ?? ''),
    ...treesIn(trees ?? ''),
    ...own.flatMap(({ ids: both }) => both),
    ...entriesIn(since ?? '').flatMap(({ path, ids: both }) => (paths.has(path) ? both : [])),
  ]);
  const sizes = await printed(['cat-file', '--batch-check=%(objectsize)'], [...ids, ''].join('\n'));
  const total = linesIn(sizes ?? 'none').reduce((sum, size) => sum + Number(size), 0);
  // Not a number: one is missing.
  if (!(total <= MAX_COPIED_BYTES)) return undefined;
  const name = await printed(['pack-objects', '-q', join(folder, 'copied')], [...ids, ''].join('\n'));
  if (name === undefined) return undefined;

  const store = join(folder, 'store');
  const format = sha.length === 40 ? 'sha1' : 'sha256';
  const made = await git(folder, ['init', '-q', '--bare', '--template=', `--object-format=${format}`, store]);
  if (!isOk(made)) return undefined;
  // Only the pack: its index has the ids that the clone gave.
  const pack = join(store, 'objects', 'pack', 'pack-copied.pack');
  await rename(join(folder, `copied-${name.trim()}.pack`), pack);
  await writeNewFile(join(store, 'shallow'), [...new Set(oldest), ''].join('\n'));
  return isOk(await git(store, ['index-pack', pack])) ? store : undefined;
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
  store: string,
  index: string,
  { mergeSha, sha }: Pair,
): Promise<Containment | undefined> {
  if (!isOk(await git(store, ['merge-base', '--is-ancestor', '--end-of-options', mergeSha, sha])))
    return undefined;
  const commit = await git(store, ['cat-file', 'commit', mergeSha]);
  if (commit.ended !== 'exit' || commit.exitCode !== 0) return undefined;
  // Without its history here, the merge itself has no parents for git.
  const [, parent] = /^tree \w+\nparent (\w+)\n/.exec(commit.stdout) ?? [];
  const from = parent === undefined ? ['--root'] : [parent];
  const change = await git(store, ['diff-tree', ...plainDiff, ...from, mergeSha, '--']);
  if (change.ended !== 'exit' && change.ended !== 'too-large') return undefined;
  if (change.ended === 'exit' && change.exitCode !== 0) return undefined;
  const patch = change.ended === 'exit' ? withoutHeading(change.stdout) : '';
  if (patch !== '') {
    // Tried on an index: neither in nor out is possible too.
    if (!isOk(await git(store, ['read-tree', sha], { index }))) return undefined;
    const apply = ['apply', '--cached', '--check', '--whitespace=nowarn', '--no-ignore-whitespace'];
    if (isOk(await git(store, [...apply, '--reverse', '-'], { index, input: patch })))
      return { contains: true };
    if (isOk(await git(store, [...apply, '-'], { index, input: patch })))
      return { contains: false, reverted: true };
  }
  const between = await git(store, [
    'log',
    '--format=%H%n%B%x00',
    '--end-of-options',
    `${mergeSha}..${sha}`,
    '--',
  ]);
  if (between.ended !== 'exit' || between.exitCode !== 0) return undefined;
  return isReverted(mergeSha, messagesIn(between.stdout))
    ? { contains: false, reverted: true }
    : { contains: true };
}

/** `diff-tree` of one commit prints its id first. */
function withoutHeading(output: string): string {
  const start = output.startsWith('diff ') ? 0 : output.indexOf('\ndiff ') + 1;
  return start === 0 && !output.startsWith('diff ') ? '' : output.slice(start);
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

// By the code host, which compares two commits and lists the files of one.

const File = z.looseObject({ filename: z.string() });
const Compared = z.looseObject({
  status: z.string(),
  total_commits: z.int().optional(),
  commits: z
    .array(z.looseObject({ sha: z.string(), commit: z.looseObject({ message: z.string() }).optional() }))
    .optional(),
  files: z.array(File).optional(),
});
const Commit = z.looseObject({
  parents: z.array(z.looseObject({ sha: z.string() })),
  files: z.array(File).optional(),
});
type Compared = z.infer<typeof Compared>;

const PER_PAGE = 100;
/** For the commits in between. */
const MOST_PAGES = 10;
/** The code host lists no more. */
const MOST_FILES = 300;

const tooMuch = {
  ok: false,
  unknown: 'too much was changed since the merge for the code host to show whether its change is still there',
} as const;

type Asked<Value> = { ok: true; value: Value } | { ok: false; problem: CodehostProblem };

export async function askCodehost(
  gh: Pick<Gh, 'request'>,
  repo: string,
  { mergeSha, sha }: Pair,
): Promise<Asked<Containment> | { ok: false; unknown: string }> {
  const compare = async (from: string, page: number): Promise<Asked<Compared>> => {
    const path = `repos/${repo}/compare/${from}...${sha}?per_page=${PER_PAGE}&page=${page}`;
    const answer = await gh.request({ path });
    return answer.ok ? parsed(Compared, answer.value.json) : answer;
  };
  const done = (value: Containment) => ({ ok: true, value }) as const;

  const first = await compare(mergeSha, 1);
  if (!first.ok) return first;
  const { status, total_commits: total = 0, files } = first.value;
  if (status === 'identical') return done({ contains: true });
  if (status === 'behind' || status === 'diverged') return done({ contains: false, reverted: false });
  if (status !== 'ahead')
    return { ok: false, unknown: 'the code host returned an unknown comparison status' };

  const answer = await gh.request({ path: `repos/${repo}/commits/${mergeSha}` });
  const commit = answer.ok ? parsed(Commit, answer.value.json) : answer;
  if (!commit.ok) return commit;
  const own = (commit.value.files ?? []).map(({ filename }) => filename);
  const [parent] = commit.value.parents;
  if (parent !== undefined && own.length > 0) {
    const changedSince = namesIn(files);
    if (changedSince === undefined) return tooMuch;
    // If every file of the merge was changed since, it may be what it was before.
    if (own.every((name) => changedSince.has(name))) {
      const before = await compare(parent.sha, 1);
      if (!before.ok) return before;
      const differs = namesIn(before.value.files);
      if (differs === undefined) return tooMuch;
      if (!own.some((name) => differs.has(name))) return done({ contains: false, reverted: true });
    }
  }

  const pages = Math.ceil(total / PER_PAGE);
  if (pages > MOST_PAGES) return tooMuch;
  const messages = messagesOf(first.value);
  for (let page = 2; page <= pages; page += 1) {
    const next = await compare(mergeSha, page);
    if (!next.ok) return next;
    messages.push(...messagesOf(next.value));
  }
  return done(isReverted(mergeSha, messages) ? { contains: false, reverted: true } : { contains: true });
}

/** Undefined if the list may be cut. */
function namesIn(files: Compared['files']): ReadonlySet<string> | undefined {
  if (files === undefined || files.length >= MOST_FILES) return undefined;
  return new Set(files.map(({ filename }) => filename));
}

function messagesOf({ commits = [] }: Compared): CommitMessage[] {
  return commits.map(({ sha, commit }) => ({ sha, message: commit?.message ?? '' }));
}
