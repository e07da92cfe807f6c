// Many worktrees of a real repository with a remote are created and removed, several at a time. Some are clean, some
// pushed, some merged, and some contain work: uncommitted, unpushed, stashed, all of it. Nothing of that may be lost:
// the bundle of each forced removal restores it byte for byte. At the end the disk is as before.
// `npm run chaos:worktrees` (100 worktrees); `-- --worktrees 20 --at-once 2 --seed 2`.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testRepository } from '../packages/monitor/src/features/worktrees/testing/repository.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import {
  describeCounts,
  scriptFolder,
  scriptOptions,
  severalAtOnce,
} from '../packages/testkit/src/script.ts';
import { scenario, type Verdict } from './scenario.ts';

const options = scriptOptions({ worktrees: 100, 'at-once': 4, seed: 1, files: 200 });
const kinds = ['clean', 'pushed', 'merged', 'uncommitted', 'unpushed', 'stashed', 'all'] as const;
type Kind = (typeof kinds)[number];
type Work = {
  name: string;
  branch: string;
  kind: Kind;
  path: string;
  tip: string;
  /** Path and content of each file that is not committed, `null` for a deleted one. */
  files: Map<string, string | null>;
  stash: string | null;
};

const problems: string[] = [];
const random = createRandom(options.seed);
const root = scriptFolder('chaos-worktrees');

const repository = testRepository(root, {
  config: {
    worktree: { setup: ['mkdir node_modules && seq 1 500 > node_modules/installed'] },
    orchestration: { hooks: { setup: ['test -f README.md'], teardown: ['test -d node_modules'] } },
  },
});
const { git, folder, base, write, commit, branches, worktrees } = repository;
for (let at = 0; at < options.files; at += 1)
  write(folder, `src/${at % 10}/${at}.txt`, `line ${at}\n`.repeat(50));
git(folder, 'add', '.');
git(folder, 'commit', '-q', '-m', 'sources');
git(folder, 'push', '-q');
// The user's own changes, which must stay untouched.
write(folder, 'README.md', 'mine\n');
git(folder, 'stash', 'push', '-q', '-m', 'mine');
write(folder, 'README.md', 'also mine\n');

const before = { bytes: diskBytes(), branches: branches(), main: git(folder, 'status', '--porcelain') };
const { create, remove, list, inspect } = worktrees();
const clone = join(root, 'second');
const took = { createdMs: 0, removedMs: 0 };
let refused = 0;
let stashesBefore = 0;
let restores: { work: Work; kept: string }[] = [];
await scenario({
  title: `${options.worktrees} worktrees of ${options.files} files, ${options['at-once']} at once, seed ${options.seed}`,
  load: createAndRemove,
  verdict,
});

async function createAndRemove(): Promise<void> {
  const started = performance.now();
  const works = await severalAtOnce(options.worktrees, options['at-once'], async (number) => {
    const kind = kinds[number % kinds.length] ?? 'clean';
    const branch = number % 3 === 0 ? `feat/it's-$(x)-${number}` : `ABC-${number}`;
    const { path, name } = await create(branch);
    return { name, branch, kind, path };
  });
  took.createdMs = performance.now() - started;
  expectSame('worktrees after creating', (await list()).length, options.worktrees);
  expectSame('git worktrees after creating', gitCount(), options.worktrees + 1);
  // One after the other: there is one stash list and one main branch.
  const all: Work[] = works.map((work) => ({ ...work, ...doWork(work) }));
  git(folder, 'push', '-q', 'origin', 'main');
  stashesBefore = stashCount();
  const removingAt = performance.now();
  restores = await severalAtOnce(all.length, options['at-once'], async (at) => removed(all[at]));
  took.removedMs = performance.now() - removingAt;
}

async function removed(work: Work | undefined): Promise<{ work: Work; kept: string }> {
  if (work === undefined) throw new Error('no such worktree');
  const holdsWork = !['clean', 'pushed', 'merged'].includes(work.kind);
  const { losses } = await inspect(work.branch);
  if (holdsWork) {
    const answer = await remove(work.branch).then(
      () => 'removed',
      (error: Error) => error.message,
    );
    if (!answer.includes('was not removed')) problems.push(`${work.name} (${work.kind}): ${answer}`);
    else refused += 1;
  }
  const { branchRemoved, kept } = await remove(work.branch, { force: holdsWork });
  const named = losses.uncommitted.count + losses.commits.count + losses.stashes.length;
  if (holdsWork !== named > 0) problems.push(`${work.name} (${work.kind}): ${named} losses named`);
  if (!branchRemoved) problems.push(`${work.name}: its branch stayed`);
  return { work, kept: kept ?? '' };
}

async function verdict(): Promise<Verdict> {
  expectSame('git worktrees', gitCount(), 1);
  expectSame('branches', branches().join(), before.branches.join());
  expectSame('worktrees', (await list()).length, 0);
  expectSame('refs of ours', git(folder, 'for-each-ref', 'refs/svc'), '');
  expectSame('the main worktree', git(folder, 'status', '--porcelain'), before.main);
  expectSame('stashes', stashCount(), stashesBefore);
  expectSame('trusted folders', trusted(), 0);
  const restored = restores.filter(({ work, kept }) => bringBack(work, kept)).length;
  rmSync(clone, { recursive: true, force: true });
  const bundles = readdirSync(join(base, '.kept'));
  const bundleBytes = bundles.reduce((sum, file) => sum + statSync(join(base, '.kept', file)).size, 0);
  expectSame('bundles', bundles.length, options.worktrees);

  // 31 days later one more removal prunes all of them except its own.
  const later = worktrees({ now: () => new Date(Date.now() + 31 * 24 * 60 * 60 * 1000) });
  await later.create('last-one');
  await later.remove('last-one');
  expectSame('bundles after 31 days', readdirSync(join(base, '.kept')).length, 1);
  rmSync(join(base, '.kept'), { recursive: true });
  git(folder, 'stash', 'clear');
  expectSame('files in the base', repository.files().join(), '');
  const after = diskBytes();
  if (Math.abs(after - before.bytes) >= 16_384)
    problems.push(`the disk has ${after} bytes, not ${before.bytes}`);
  const each = (ms: number): string =>
    `${(ms / 1000).toFixed(1)} s (${Math.round(ms / options.worktrees)} ms each)`;
  const counts = kinds.map(
    (kind) => [kind, restores.filter(({ work }) => work.kind === kind).length] as const,
  );
  return {
    figures: [
      describeCounts(counts),
      `created in ${each(took.createdMs)}, removed in ${each(took.removedMs)}; ${refused} refused without force`,
      `${bundles.length} bundles of ${Math.round(bundleBytes / bundles.length / 1024)} KiB; ${restored} restored byte for byte; disk ${before.bytes} bytes before, ${after} after, without git's objects`,
    ],
    problems,
  };
}

function doWork(work: { kind: Kind; path: string; branch: string; name: string }) {
  const { kind, path, branch } = work;
  const files = new Map<string, string | null>();
  const bytes = (): string => Array.from({ length: 40 }, () => random.below(1e9).toString(36)).join('\r\n');
  if (kind !== 'clean' && kind !== 'uncommitted' && kind !== 'stashed') {
    commit(path, `own/${work.name}.txt`, bytes());
    commit(path, 'src/1/1.txt', bytes());
  }
  if (kind === 'pushed') git(path, 'push', '-q', 'origin', `HEAD:refs/heads/${branch}`);
  if (kind === 'merged') git(folder, 'merge', '-q', '-s', 'ours', '--no-edit', branch);
  let stash: string | null = null;
  if (kind === 'stashed' || kind === 'all') {
    write(path, 'src/2/2.txt', bytes());
    git(path, 'stash', 'push', '-q');
    stash = git(path, 'rev-parse', 'refs/stash');
  }
  if (kind === 'uncommitted' || kind === 'all') {
    for (const name of ['src/3/3.txt', 'new/untracked "x".txt', 'staged.txt']) files.set(name, bytes());
    for (const [name, text] of files) write(path, name, text ?? '');
    git(path, 'add', 'staged.txt');
    writeFileSync(join(path, 'binary'), Buffer.from(Array.from({ length: 300 }, (_, at) => at % 256)));
    files.set('binary', readFileSync(join(path, 'binary'), 'latin1'));
    rmSync(join(path, 'src/4/4.txt'));
    files.set('src/4/4.txt', null);
  }
  return { tip: git(path, 'rev-parse', 'HEAD'), files, stash };
}

/** Only from the bundle and the main branch, in a second clone that never had the work. */
function bringBack({ name, branch, kind, tip, files, stash }: Work, kept: string): boolean {
  try {
    rmSync(clone, { recursive: true, force: true });
    git(root, 'clone', '-q', '--no-local', '--single-branch', '--branch', 'main', 'origin.git', 'second');
    git(clone, 'fetch', '-q', kept, `refs/heads/${branch}`);
    if (git(clone, 'rev-parse', 'FETCH_HEAD') !== tip) throw new Error('another commit');
    git(clone, 'checkout', '-q', tip);
    const heads = git(clone, 'bundle', 'list-heads', kept).split('\n');
    const ref = heads.find((line) => line.includes('/uncommitted-'))?.split(' ')[1];
    if ((ref !== undefined) !== files.size > 0) throw new Error('uncommitted state');
    if (ref !== undefined) {
      git(clone, 'fetch', '-q', kept, ref);
      git(clone, 'stash', 'apply', '-q', 'FETCH_HEAD');
      for (const [file, text] of files) {
        if (contentOf(join(clone, file)) !== text) throw new Error(`${file} differs`);
      }
    }
    if (stash !== null && !heads.some((line) => line.startsWith(stash)))
      throw new Error('its stash is missing');
    return true;
  } catch (error) {
    problems.push(
      `${name} (${kind}) is not restored: ${error instanceof Error ? error.message : String(error)}`,
    );
    return false;
  }
}

function contentOf(file: string): string | null {
  return statSync(file, { throwIfNoEntry: false }) === undefined ? null : readFileSync(file, 'latin1');
}

function expectSame(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) problems.push(`${what}: ${String(found)}, expected ${String(expected)}`);
}

function stashCount(): number {
  return git(folder, 'stash', 'list', '--format=%H').split('\n').length;
}

function gitCount(): number {
  return git(folder, 'worktree', 'list').split('\n').length;
}

function trusted(): number {
  return Object.keys(JSON.parse(readFileSync(join(repository.home, '.claude.json'), 'utf8')).projects).length;
}

/** All files except git's objects and reflogs, which git collects itself. */
function diskBytes(): number {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\/(objects|logs)(\/|$)/.test(entry.parentPath))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
