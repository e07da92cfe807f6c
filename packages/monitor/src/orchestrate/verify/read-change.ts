// What a merged commit changed: the paths, the files of the repository with it, and the text of the diff. Settings
// and attributes of the repository do not change what is seen: a file marked as binary is shown all the same.
import { MAX_DIFF_BYTES } from '@svc/core';
import { type AskGit, mustAnswer } from './ask-git.ts';

export type Change = {
  changed: string[];
  tree: string[];
  /** Null when it is too large to be looked at. */
  diff: string | null;
  /** Sources that hold tests of their own. */
  withTestsInside: Set<string>;
};

const CONTEXT_LINES = 8;

/** Nobody reads these, and they are large. */
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
    (await mustAnswer(git(folder, args, { signal }), what)).split('\0').filter((name) => name !== '');
  const changed = await names(
    ['diff-tree', '-r', '-z', '--name-only', '--no-renames', base, sha],
    'The changed files',
  );
  const tree = await names(['ls-tree', '-r', '-z', '--name-only', '--full-tree', sha], 'The files');
  const diff = await git(
    folder,
    [
      '-c',
      'core.quotePath=true',
      'diff-tree',
      '-r',
      '-p',
      '-M',
      `--unified=${CONTEXT_LINES}`,
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
    { signal, maxBytes: MAX_DIFF_BYTES },
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
  const reply = await git(folder, [...args, '--', ':(top)*.rs'], { signal });
  // It ends with 1 when there is none.
  if (reply !== 'too-large' && reply.exitCode === 1) return new Set();
  const found = await mustAnswer(Promise.resolve(reply), 'The sources with tests');
  return new Set(found.split('\0').map((name) => name.slice(sha.length + 1)));
}
