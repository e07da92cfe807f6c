// A repository in which an agent named its own program everywhere where git looks for one. Whatever svc does there, none of
// them runs.
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGitRunner } from '@svc/lib/git';
import { runCommand } from '@svc/lib/process';
import { temporaryFolder, testTerminal, WAIT_MS } from '@svc/testkit';
import { expect, test } from 'vitest';
import { checkRepository } from '../../cli/kit/repository.ts';
import { createFileLocks } from '../../kernel/disk/lock.ts';
import type { EventDraft } from '../../kernel/log/event-line.ts';
import type { Effect } from '../../kernel/outbox/effect.ts';
import { Config } from '../config.ts';
import { createDescendantProof } from '../deploy/io/prove-descendant.ts';
import { createLookups } from '../init/verbs/lookups.ts';
import { createVerifier } from '../verify/io/verifier.ts';
import { createSignalStore } from '../workers/io/signal-store.ts';
import { testRepository } from './testing/repository.ts';

const hooks = [
  'post-checkout',
  'post-index-change',
  'pre-auto-gc',
  'reference-transaction',
  'fsmonitor-watchman',
];

function hostileWorld() {
  const root = temporaryFolder();
  const repository = testRepository(root);
  const { folder, git, write, commit, environment } = repository;
  const ran = join(root, 'ran');
  const program = (name: string): string => {
    const file = join(root, 'programs', name);
    mkdirSync(join(root, 'programs'), { recursive: true });
    writeFileSync(file, `#!/bin/sh\necho ${name} >> '${ran}'\ncat\n`, { mode: 0o700 });
    return file;
  };
  const filter = (name: string): string =>
    ['clean', 'smudge'].map((end) => `\t${end} = ${program(`filter-${name}-${end}`)}\n`).join('');

  // A submodule whose own settings name programs.
  const part = join(root, 'part');
  mkdirSync(part);
  git(part, 'init', '-q', '-b', 'main', '--template=');
  commit(part, 'part.txt', 'part\n');
  git(folder, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', part, 'part');
  commit(
    folder,
    '.gitattributes',
    '*.own filter=own\n*.branch filter=branch\n*.tree filter=tree\n*.merge merge=evil\n*.process filter=process\n',
  );
  for (const name of ['a.own', 'a.branch', 'a.tree', 'a.merge', 'a.diff']) commit(folder, name, 'one\n');
  git(folder, 'push', '-q', 'origin', 'main');

  const plant = (): void => {
    const config = join(folder, '.git/config');
    const branchConfig = join(root, 'branch-config');
    writeFileSync(branchConfig, `[filter "branch"]\n${filter('branch')}\trequired = true\n`);
    git(folder, 'config', 'extensions.worktreeConfig', 'true');
    appendFileSync(
      config,
      `[core]
	fsmonitor = ${program('fsmonitor')}
	hooksPath = ${join(root, 'hooks')}
	sshCommand = ${program('ssh')}
	askPass = ${program('askpass')}
	editor = ${program('editor')}
	pager = ${program('pager')}
	alternateRefsCommand = ${program('alternates')}
[sequence]
	editor = ${program('sequence')}
[pager]
	log = ${program('log-pager')}
	diff = true
[credential]
	helper = !${program('credential')}
[credential "https://127.0.0.1:1"]
	helper = !${program('credential-of-address')}
[filter "own"]
${filter('own')}
[filter "process"]
	process = ${program('process')}
[diff]
	external = ${program('external-diff')}
[diff "evil"]
	command = ${program('diff')}
	textconv = ${program('textconv')}
[merge "evil"]
	driver = ${program('merge')}
[gpg]
	program = ${program('gpg')}
[commit]
	gpgSign = true
[log]
	showSignature = true
[status]
	submoduleSummary = true
[submodule]
	recurse = true
[hook "evil"]
	command = ${program('configured-hook')}
	event = post-checkout
[gc]
	auto = 1
	recentObjectsHook = ${program('gc')}
[protocol "ext"]
	allow = always
[remote "lazy"]
	url = ext::${program('lazy-remote')} %S
	promisor = true
	partialclonefilter = blob:none
[includeIf "onbranch:ABC-*"]
	path = ${branchConfig}
`,
    );
    appendFileSync(
      join(folder, '.git/config.worktree'),
      `[filter "tree"]\n${filter('tree')}[diff "evil"]\n\tcommand = ${program('diff-of-worktree')}\n`,
    );
    mkdirSync(join(folder, '.git/info'), { recursive: true });
    writeFileSync(join(folder, '.git/info/attributes'), '*.diff diff=evil\n');
    for (const at of [join(root, 'hooks'), join(folder, '.git/hooks')])
      for (const hook of hooks) {
        write(at, hook, `#!/bin/sh\necho hook-${hook} >> '${ran}'\n`);
        chmodSync(join(at, hook), 0o755);
      }
    appendFileSync(join(root, 'origin.git/config'), `[core]\n\tfsmonitor = ${program('remote-fsmonitor')}\n`);
  };

  /** As an agent leaves its worktree: everything changed, a submodule checked out. */
  const spoil = (path: string): void => {
    const quiet = [
      '-c',
      'core.fsmonitor=false',
      '-c',
      'core.hooksPath=/dev/null',
      '-c',
      'commit.gpgSign=false',
    ];
    git(path, ...quiet, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
    const inPart = git(join(path, 'part'), 'rev-parse', '--absolute-git-dir');
    appendFileSync(
      join(inPart, 'config'),
      `[core]\n\tfsmonitor = ${program('part-fsmonitor')}\n[filter "part"]\n${filter('part')}`,
    );
    mkdirSync(join(inPart, 'info'), { recursive: true });
    writeFileSync(join(inPart, 'info/attributes'), '* filter=part\n');
    write(path, 'part/part.txt', 'part\n');
    const inWorktree = git(path, 'rev-parse', '--absolute-git-dir');
    appendFileSync(join(inWorktree, 'config.worktree'), `[filter "late"]\n${filter('late')}`);
    write(
      path,
      '.gitattributes',
      `${readFileSync(join(path, '.gitattributes'), 'utf8')}*.late filter=late\n`,
    );
    for (const name of [
      'a.own',
      'a.branch',
      'a.tree',
      'a.merge',
      'a.diff',
      'new.own',
      'new.late',
      'x.process',
    ])
      write(path, name, 'two\n');
  };

  const runs = (): string[] => {
    try {
      return readFileSync(ran, 'utf8').trim().split('\n');
    } catch {
      return [];
    }
  };
  return { ...repository, root, environment, plant, spoil, runs, forget: () => rmSync(ran, { force: true }) };
}

test('worktrees: created, listed, compared, inspected and removed, and no planted program ran', async () => {
  const world = hostileWorld();
  const { worktrees, plant, spoil, runs, forget, git, folder, write } = world;
  plant();
  const made = worktrees({ config: { worktree: { setup: [] } } });
  const { path } = await made.create('ABC-1');
  expect(readFileSync(join(path, 'a.branch'), 'utf8')).toBe('one\n');
  expect(runs()).toEqual([]);
  spoil(path);
  forget();

  await made.list();
  expect((await made.changes('ABC-1', 'main')).files.map((file) => file.path)).toContain('new.late');
  const { losses } = await made.inspect('ABC-1');
  expect(losses.uncommitted.paths).toEqual(expect.arrayContaining(['a.own', 'a.branch', 'new.late']));
  expect(losses.submodules).toEqual([]);
  expect(runs()).toEqual([]);

  write(path, 'part/part.txt', 'work in a submodule\n');
  expect((await made.inspect('ABC-1')).losses.submodules).toEqual(['part']);
  await expect(made.remove('ABC-1', { force: true })).rejects.toThrow('submodules with changes');
  write(path, 'part/part.txt', 'part\n');
  await expect(made.remove('ABC-1')).rejects.toThrow('would be lost');
  const removed = await made.remove('ABC-1', { force: true });
  expect(removed.kept).not.toBeNull();
  expect(runs()).toEqual([]);

  // The planted programs do run with git as it is.
  const plainGit = (...args: string[]) => {
    try {
      git(folder, ...args);
    } catch {
      // They answer nothing useful.
    }
  };
  plainGit('worktree', 'add', '-b', 'ABC-3', join(world.root, 'plain'));
  expect(runs()).toEqual(
    expect.arrayContaining([
      'hook-reference-transaction',
      'fsmonitor',
      'filter-own-smudge',
      'filter-branch-smudge',
      'filter-tree-smudge',
    ]),
  );
});

test('a merged commit is fetched, compared and tested, and no planted program ran', async () => {
  const world = hostileWorld();
  const { folder, root, environment, plant, runs, git, forget } = world;
  const clone = join(root, 'clone');
  git(root, 'clone', '-q', join(root, 'origin.git'), clone);
  const sha = world.commit(clone, 'merged.own', 'merged\n');
  git(clone, 'push', '-q', 'origin', 'main');
  git(folder, 'config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*');
  plant();
  forget();
  git(folder, 'config', 'remote.origin.uploadpack', join(root, 'programs/fsmonitor'));
  const runsDir = join(root, 'runs');
  const locks = createFileLocks({ folder: join(root, 'locks'), timeoutMs: WAIT_MS });
  const now = () => new Date();
  const notAsked = () => Promise.reject(new Error('no verifier is configured'));
  const verifier = createVerifier({
    config: Config.parse({ svc: { projectKey: 'demo', orchestration: { testCommand: 'true' } } }),
    environment,
    runsDir,
    signals: createSignalStore({ runsDir, locks, now }),
    append: () => Promise.resolve(),
    agent: { choose: notAsked, environment: () => ({}), readTicket: notAsked },
    now,
  });
  const verify = () =>
    verifier.verify({
      orchestrator: 'run-1',
      ticket: 'ABC-1',
      repoFolder: folder,
      worktreeBase: join(root, 'wt'),
      mergeSha: sha,
    });
  expect(await verify()).toMatchObject({ ok: false, reason: expect.stringContaining('not allowed') });
  expect(runs()).toEqual([]);
  git(folder, 'config', '--unset', 'remote.origin.uploadpack');
  expect(await verify()).toMatchObject({ ok: true });
  expect(runs()).toEqual([]);
});

test('a clone is looked at and two commits are compared, and no planted program ran', async () => {
  const { folder, environment, plant, runs, git, forget } = hostileWorld();
  const sha = git(folder, 'rev-parse', 'main');
  const mergeSha = git(folder, 'rev-parse', 'main~1');
  plant();
  forget();
  const terminal = { ...testTerminal({ environment }), folder };
  expect((await checkRepository(terminal)).repository).toEqual({ root: folder, main: folder });
  expect((await createLookups(terminal, { trackerApiUrl: 'http://127.0.0.1:1' }).checkout(folder)).root).toBe(
    folder,
  );
  const appended: EventDraft[] = [];
  const prove = createDescendantProof({
    run: runCommand,
    environment,
    gh: { request: () => Promise.reject(new Error('git can answer')) },
    append: async (draft) => void appended.push(draft),
    now: () => 0,
  });
  const proof = { kind: 'prove-descendant', repo: 'acme/web', mergeSha, sha, worktreePath: folder } as const;
  await prove(proof as Extract<Effect, { kind: 'prove-descendant' }>, {
    signal: new AbortController().signal,
  });
  expect(appended).toMatchObject([{ detail: { contains: true, by: 'git' } }]);
  expect(runs()).toEqual([]);
});

test('what a partial clone lacks is asked of no remote that the repository names', async () => {
  const { folder, environment, plant, runs, git, forget } = hostileWorld();
  const blob = git(folder, 'rev-parse', 'main:a.own');
  plant();
  rmSync(join(folder, '.git/objects', blob.slice(0, 2), blob.slice(2)));
  forget();
  const run = createGitRunner(runCommand, environment);
  for (const options of [{}, { remote: true }])
    expect(await run(folder, ['cat-file', 'blob', blob], options)).not.toMatchObject({ exitCode: 0 });
  expect(runs()).toEqual([]);
});

test('the filters of the person still run where files are checked out or saved, and with the own settings', async () => {
  const { worktrees, plant, root, home, write } = hostileWorld();
  const settings = join(home, 'gitconfig');
  const marked = (name: string): string => {
    const file = join(home, name);
    writeFileSync(file, `#!/bin/sh\necho ${name} >> '${join(root, 'own-ran')}'\ncat\n`, { mode: 0o700 });
    return file;
  };
  writeFileSync(settings, `[filter "own"]\n\tclean = ${marked('clean')}\n\tsmudge = ${marked('smudge')}\n`);
  plant();
  const environment = { GIT_CONFIG_GLOBAL: settings };
  const made = worktrees({ environment, config: { worktree: { setup: [] } } });
  const { path } = await made.create('ABC-1');
  const own = (): string => readFileSync(join(root, 'own-ran'), 'utf8');
  expect(own()).toBe('smudge\n');
  write(path, 'a.own', 'two\n');
  await made.changes('ABC-1', 'main');
  expect(own()).toBe('smudge\n');
  await made.remove('ABC-1', { force: true });
  expect(own()).toContain('clean');
});

test('a command that would enter submodules is a mistake of the caller', () => {
  const run = createGitRunner(runCommand, {});
  for (const args of [
    ['status'],
    ['-c', 'a.b=c', 'diff', '--ignore-submodules=none'],
    ['submodule', 'update'],
  ])
    expect(() => run('/', args), args.join(' ')).toThrow(/submodule/);
});
