// A merged commit: makes sure that the repository has it, and reads what it changed.
import { lastLines } from '@svc/lib/git';
import { pathInRepository } from '@svc/lib/path-in-repository';
import { Failure } from '../../../kernel/failure.ts';
import { type AskGit, mustAnswer } from './ask-git.ts';

const FETCH_MS = 5 * 60_000;

/**
 * The commit and the one to compare it with: its first parent, which is right for a merge and for a squash. What is
 * missing is fetched once.
 */
export async function findCommit({
  git,
  folder,
  sha,
  base,
  signal,
}: {
  git: AskGit;
  folder: string;
  sha: string;
  base?: string | undefined;
  signal?: AbortSignal | undefined;
}): Promise<{ sha: string; base: string }> {
  const has = async (id: string): Promise<boolean> => {
    const reply = await git(folder, ['cat-file', '-e', `${id}^{commit}`], { signal });
    return reply !== 'too-large' && reply.exitCode === 0;
  };
  const ensure = async (id: string): Promise<void> => {
    if (await has(id)) return;
    const why = await fetchCommit(git, folder, id, signal);
    if (await has(id)) return;
    throw new Failure(
      'not-registered',
      `The commit ${id} is not in ${folder} and could not be fetched: ${why}.`,
      `Run the fetch to see why: git -C ${folder} fetch`,
    );
  };
  await ensure(sha);
  const against = base ?? (await firstParent(git, folder, sha));
  if (against !== undefined) await ensure(against);
  return { sha, base: against ?? (await emptyTree(git, folder)) };
}

/** From the commit itself: a shallow clone does not know its parents otherwise. */
async function firstParent(git: AskGit, folder: string, sha: string): Promise<string | undefined> {
  const text = await mustAnswer(git(folder, ['cat-file', 'commit', sha]), `The commit ${sha}`);
  const headers = text.slice(0, text.indexOf('\n\n') + 1);
  return /^parent ([0-9a-f]{40}|[0-9a-f]{64})$/m.exec(headers)?.[1];
}

async function emptyTree(git: AskGit, folder: string): Promise<string> {
  return (await mustAnswer(git(folder, ['hash-object', '-t', 'tree', '/dev/null']), 'The empty tree')).trim();
}

/** Returns why it may have failed; the caller checks whether it worked. */
async function fetchCommit(
  git: AskGit,
  folder: string,
  id: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const remotes = (await mustAnswer(git(folder, ['remote']), 'The remotes')).split('\n');
  const remote = remotes.includes('origin') ? 'origin' : remotes.find((name) => /^\w/.test(name));
  if (remote === undefined) return 'the repository has no remote';
  const fetch = ['fetch', '--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head'];
  let why = `${remote} does not have it`;
  // Not every server serves a commit by its id.
  for (const what of [[remote, id], [remote]]) {
    const reply = await git(folder, [...fetch, ...what], { timeoutMs: FETCH_MS, signal, remote: true });
    if (reply === 'too-large') continue;
    if (reply.exitCode === 0) return `${remote} does not have it`;
    why = lastLines(reply.stderr);
  }
  return why;
}

export type Change = {
  changed: string[];
  tree: string[];
  /** Without context lines. Null when it is too large to read. */
  diff: string | null;
  /** Sources that contain their own tests. */
  withTestsInside: Set<string>;
};

const MAX_DIFF_BYTES = 5 * 1024 * 1024;

/** Large files that contain no tests. */
const unreadable = (
  'png jpg jpeg gif webp ico bmp tiff avif heic pdf psd ai sketch fig zip gz tgz bz2 xz zst 7z jar war class wasm ' +
  'so dylib dll exe o a woff woff2 ttf otf eot mp3 mp4 mov avi webm ogg wav bin dat sqlite db parquet snap lock'
).split(' ');
const lockfiles = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'go.sum',
  'packages.lock.json',
];

const leftOut = [
  ...unreadable.map((extension) => `:(top,exclude,icase,glob)**/*.${extension}`),
  ...lockfiles.map((name) => `:(top,exclude,glob)**/${name}`),
];

/**
 * The changed paths, all files of the repository with the change, and the text of the diff. Settings and attributes of
 * the repository do not change the result: a file marked as binary is shown as text.
 */
export async function readChange({
  git,
  folder,
  base,
  sha,
  signal,
}: {
  git: AskGit;
  folder: string;
  base: string;
  sha: string;
  signal?: AbortSignal | undefined;
}): Promise<Change> {
  const names = async (args: string[], what: string): Promise<string[]> =>
    (await mustAnswer(git(folder, args, { signal, remote: true }), what))
      .split('\0')
      .filter((name) => name !== '');
  const changed = await names(
    ['diff-tree', '-r', '-z', '--name-only', '--no-renames', base, sha],
    'The changed files',
  );
  const tree = await names(['ls-tree', '-r', '-z', '--name-only', '--full-tree', sha], 'The files');
  const diff = await git(
    folder,
    [
      '-c',
      'core.quotePath=false',
      'diff-tree',
      '-r',
      '-p',
      '-M',
      '--unified=0',
      '--text',
      '--no-color',
      '--no-ext-diff',
      '--no-textconv',
      '--no-relative',
      '--src-prefix=a/',
      '--dst-prefix=b/',
      base,
      sha,
      '--',
      ':(top)',
      ...leftOut,
    ],
    { signal, maxBytes: MAX_DIFF_BYTES, remote: true },
  );
  return {
    changed,
    tree,
    diff: diff === 'too-large' ? null : await mustAnswer(Promise.resolve(diff), 'The diff'),
    withTestsInside: changed.some((path) => path.endsWith('.rs'))
      ? await sourcesWithTests(git, folder, sha, signal)
      : new Set(),
  };
}

async function sourcesWithTests(
  git: AskGit,
  folder: string,
  sha: string,
  signal: AbortSignal | undefined,
): Promise<Set<string>> {
  const args = ['grep', '-l', '-z', '-F', '-e', '#[test]', '-e', '::test]', '-e', '#[rstest', sha];
  const reply = await git(folder, [...args, '--', ':(top)*.rs'], { signal, remote: true });
  // Exit code 1 means no match.
  if (reply !== 'too-large' && reply.exitCode === 1) return new Set();
  const found = await mustAnswer(Promise.resolve(reply), 'The sources with tests');
  return new Set(found.split('\0').map((name) => name.slice(sha.length + 1)));
}

const MAX_FILE_BYTES = 5 * 1024 * 1024;

/** The lines of these files at the commit; null for one that is not there, or cannot be read. */
export async function linesAt({
  git,
  folder,
  sha,
  paths,
}: {
  git: AskGit;
  folder: string;
  sha: string;
  /** From an agent. */
  paths: Iterable<string>;
}): Promise<Map<string, string[] | null>> {
  const files = new Map<string, string[] | null>();
  for (const path of paths) {
    const isPlain = pathInRepository(path, folder) === path;
    const reply = isPlain
      ? await git(folder, ['cat-file', 'blob', `${sha}:${path}`], { maxBytes: MAX_FILE_BYTES, remote: true })
      : 'too-large';
    const text = reply !== 'too-large' && reply.exitCode === 0 ? reply.stdout : undefined;
    files.set(path, text === undefined ? null : text.replace(/\n$/, '').split(/\r?\n/));
  }
  return files;
}
