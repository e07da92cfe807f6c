// Many worktrees of a real repository with a remote are created and removed, several at a time. Some are clean, some
// pushed, some merged, and some contain work: uncommitted, unpushed, stashed, all of it. Nothing of that may be lost:
// the bundle of each forced removal restores it byte for byte. At the end the disk is as before.
// `npm run chaos:worktrees` (100 worktrees); `-- --worktrees 20 --at-once 2 --seed 2`.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testRepository } from '../packages/monitor/src/features/worktrees/testing/repository.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import {
  describeMachine,
  failUnless,
  printProblems,
  scriptFolder,
  scriptOptions,
  severalAtOnce,
} from '../packages/testkit/src/script.ts';

const options = scriptOptions({ worktrees: 100, 'at-once': 4, seed: 1, files: 200 });
const kinds = ['clean', 'pushed', 'merged', 'uncommitted', 'unpushed', 'stashed', 'all'] as const;
type Kind = (typeof kinds)[number];
type Work = {
  name: string;
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

console.log(describeMachine());
const started = performance.now();
const before = { bytes: diskBytes(), branches: branches(), main: git(folder, 'status', '--porcelain') };
const { create, remove, list, inspect } = worktrees();

const works = await severalAtOnce(options.worktrees, options['at-once'], async (number) => {
  const kind = kinds[number % kinds.length] ?? 'clean';
  const name = number % 3 === 0 ? `feat/it's-$(x)-${number}` : `ABC-${number}`;
  const { path, name: made } = await create(name);
  return { name: made, branch: name, kind, path };
});
const createdMs = performance.now() - started;
expectSame('worktrees after creating', (await list()).length, options.worktrees);
expectSame('git worktrees after creating', gitCount(), options.worktrees + 1);
// One after the other: there is one stash list and one main branch.
const all: (Work & { branch: string })[] = works.map((work) => ({ ...work, ...doWork(work) }));
git(folder, 'push', '-q', 'origin', 'main');
const stashesBefore = git(folder, 'stash', 'list', '--format=%H').split('\n').length;

const removingAt = performance.now();
let refused = 0;
const restores = await severalAtOnce(all.length, options['at-once'], async (at) => {
  const work = all[at];
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
  const removed = await remove(work.branch, { force: holdsWork });
  const named = losses.uncommitted.count + losses.commits.count + losses.stashes.length;
  if (holdsWork !== named > 0) problems.push(`${work.name} (${work.kind}): ${named} losses named`);
  if (!removed.branchRemoved) problems.push(`${work.name}: its branch stayed`);
  return { work, kept: removed.kept ?? '' };
});
const removedMs = performance.now() - removingAt;

expectSame('git worktrees', gitCount(), 1);
expectSame('branches', branches().join(), before.branches.join());
expectSame('worktrees', (await list()).length, 0);
expectSame('refs of ours', git(folder, 'for-each-ref', 'refs/svc'), '');
expectSame('the main worktree', git(folder, 'status', '--porcelain'), before.main);
expectSame('stashes', git(folder, 'stash', 'list', '--format=%H').split('\n').length, stashesBefore);
expectSame('trusted folders', trusted(), 0);

let restored = 0;
const clone = join(root, 'second');
for (const { work, kept } of restores) if (bringBack(work, kept)) restored += 1;
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
const left = repository.files();
expectSame('files in the base', left.join(), '');
const after = diskBytes();

printProblems(problems, 30);
const counts = kinds.map((kind) => `${kind} ${all.filter((work) => work.kind === kind).length}`).join(', ');
console.log(
  `${options.worktrees} worktrees of ${options.files} files, ${options['at-once']} at once, seed ${options.seed}: ${counts}`,
);
console.log(
  `created in ${seconds(createdMs)} (${Math.round(createdMs / options.worktrees)} ms each), removed in ${seconds(removedMs)} (${Math.round(removedMs / options.worktrees)} ms each); ${refused} refused without force`,
);
console.log(
  `${bundles.length} bundles of ${Math.round(bundleBytes / bundles.length / 1024)} KiB; ${restored} restored byte for byte; disk ${before.bytes} bytes before, ${after} after, without git's objects`,
);
const isKept =
  problems.length === 0 && restored === options.worktrees && Math.abs(after - before.bytes) < 16_384;
console.log(isKept ? 'KEPT: nothing lost, nothing left over' : `BROKEN: ${problems.length} problems`);
failUnless(isKept);

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
function bringBack(
  { name, branch, kind, tip, files, stash }: Work & { branch: string },
  kept: string,
): boolean {
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

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
