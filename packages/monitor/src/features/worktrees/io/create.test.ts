// Real git, real commands.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { needPid } from '@svc/lib/pid';
import { temporaryFolder, until } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { killGroup, lives, textIn } from '../../agents/testing/scripted-agent.ts';
import { hurry } from '../testing/hurry.ts';
import { testRepository } from '../testing/repository.ts';
import type { WorktreeProgress } from './steps.ts';

const everything = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/\/(objects|locks|\.logs)\//.test(path))
    .toSorted();

test('a ticket: its folder, its branch at the base, its context, trusted, ready', async () => {
  const { worktrees, base, folder, git, read, home } = testRepository(temporaryFolder());
  const { create, list } = worktrees();
  const made = await create('ABC-12');
  expect(made).toEqual({
    name: 'ABC-12',
    path: join(base, 'ABC-12'),
    branch: 'ABC-12',
    madeBranch: true,
    base: 'main',
    start: git(folder, 'rev-parse', 'main'),
    ticket: 'ABC-12',
    log: join(base, '.logs', 'ABC-12.log'),
  });
  expect(read(made.path, 'README.md')).toBe('one\n');
  expect(git(made.path, 'branch', '--show-current')).toBe('ABC-12');
  expect(git(made.path, 'status', '--porcelain')).toBe('');
  expect(JSON.parse(read(made.path, '.svc/.workflow-context.json'))).toMatchObject({
    currentTicket: 'ABC-12',
  });
  expect(JSON.parse(read(home, '.claude.json')).projects[made.path]).toEqual({
    hasTrustDialogAccepted: true,
  });
  expect(await list()).toMatchObject([{ name: 'ABC-12', branch: 'ABC-12', state: 'ready', locked: false }]);
});

test('a project without worktrees is listed without git; one with a worktree, or a record of one, is not', async () => {
  const { worktrees, folder, base, git, write } = testRepository(temporaryFolder());
  const withoutGit = () => worktrees({ environment: { PATH: '/nowhere' } }).list();
  expect(await withoutGit()).toEqual([]);
  write(join(base, '.records'), 'ABC-1.json', '{}');
  await expect(withoutGit()).rejects.toThrow('git');
  rmSync(join(base, '.records', 'ABC-1.json'));
  git(folder, 'worktree', 'add', '-q', '../aside');
  await expect(withoutGit()).rejects.toThrow('git');
});

test.each([
  ['feat/abc-7-login', 'ABC-7'],
  ['feat/login', null],
])('the context of branch %s has ticket %s', async (branch, ticket) => {
  const { worktrees } = testRepository(temporaryFolder());
  expect(await worktrees().create(branch)).toMatchObject({ branch, ticket });
});

test.each([
  ['created here', {}, 'ABC-12'],
  [
    'created by the setup',
    { worktree: { setup: ['mkdir .svc && cp ../../../context .svc/.workflow-context.json'] } },
    'ABC-7',
  ],
])('the context of a run names it, and keeps its ticket: %s', async (_, config, currentTicket) => {
  const { worktrees, write, base, read } = testRepository(temporaryFolder());
  const context = { lastUpdated: '2026-01-02T03:04:05Z', currentTicket: 'ABC-7' };
  write(join(base, '../..'), 'context', JSON.stringify(context));
  const { path } = await worktrees({ config }).create('ABC-12', { orchestration: 'run-1' });
  expect(JSON.parse(read(path, '.svc/.workflow-context.json'))).toMatchObject({
    currentTicket,
    orchestration: 'run-1',
  });
});

describe('the base folder', () => {
  test.each([
    ['relative to the project', '../trees', (root: string) => join(root, 'trees')],
    ['in the home', '~/trees', (root: string) => join(root, 'home', 'trees')],
    ['absolute', undefined, (root: string) => join(root, 'deep', 'trees')],
  ])('%s', async (_, worktreeDir, expected) => {
    const root = temporaryFolder();
    const { worktrees } = testRepository(root);
    const config = { orchestration: { worktreeDir: worktreeDir ?? join(root, 'deep', 'trees') } };
    const { path } = await worktrees({ config }).create('ABC-1');
    expect(path).toBe(join(expected(root), 'ABC-1'));
  });
});

describe('where the branch starts', () => {
  test('at a named base, at the newer of local and remote', async () => {
    const { worktrees, folder, git, commit } = testRepository(temporaryFolder());
    git(folder, 'checkout', '-q', '-b', 'develop');
    const newer = commit(folder, 'a.txt', 'a');
    git(folder, 'push', '-q', 'origin', 'develop');
    git(folder, 'checkout', '-q', 'main');
    git(folder, 'branch', '-f', 'develop', 'main');
    expect(await worktrees().create('ABC-1', { base: 'develop' })).toMatchObject({ start: newer });
    const local = commit(folder, 'b.txt', 'b');
    expect(await worktrees().create('ABC-2')).toMatchObject({ start: local, base: 'main' });
    expect(await worktrees().create('ABC-3', { base: newer })).toMatchObject({ start: newer });
  });

  test('an existing branch is continued, even one that only the remote has', async () => {
    const { worktrees, folder, git, commit } = testRepository(temporaryFolder());
    git(folder, 'checkout', '-q', '-b', 'ABC-1');
    const mine = commit(folder, 'a.txt', 'a');
    git(folder, 'checkout', '-q', '-b', 'ABC-2');
    const theirs = commit(folder, 'b.txt', 'b');
    git(folder, 'push', '-q', 'origin', 'ABC-2');
    git(folder, 'checkout', '-q', 'main');
    git(folder, 'branch', '-q', '-D', 'ABC-2');
    expect(await worktrees().create('ABC-1')).toMatchObject({ start: mine, madeBranch: false });
    expect(await worktrees().create('ABC-2')).toMatchObject({ start: theirs, madeBranch: true });
  });

  test.each([
    ['nowhere', 'There is no branch nowhere'],
    ['--upload-pack=x', 'starts with a dash'],
    ['a..b', 'two dots'],
  ])('an invalid base: %s', async (base, words) => {
    const { worktrees, files } = testRepository(temporaryFolder());
    await expect(worktrees().create('ABC-1', { base })).rejects.toThrow(words);
    expect(files()).toEqual([]);
  });
});

describe('setup', () => {
  test('only the configured commands, in order, then the hooks; reported and kept', async () => {
    const { worktrees, folder, commit, read, base } = testRepository(temporaryFolder());
    commit(folder, 'Makefile', 'setup:\n\techo made > node_modules/made\n');
    const config = {
      worktree: { setup: ['echo first; echo oops >&2', 'mkdir -p node_modules && pwd > node_modules/where'] },
      orchestration: { hooks: { setup: ['cat .svc/.workflow-context.json > node_modules/context'] } },
      thoughts: { directory: 'docs' },
    };
    const news: WorktreeProgress[] = [];
    const { path } = await worktrees({ config }).create('ABC-1', { report: (one) => news.push(one) });
    expect(news.filter(({ kind }) => kind === 'step-done')).toHaveLength(3);
    expect(read(path, 'node_modules/where').trim()).toBe(path);
    expect(existsSync(join(path, 'node_modules', 'made'))).toBe(false);
    expect(JSON.parse(read(path, 'node_modules/context'))).toMatchObject({ currentTicket: 'ABC-1' });
    expect(
      news
        .filter(({ kind }) => kind === 'output')
        .map((one) => ('line' in one ? one.line : ''))
        .toSorted((one, other) => one.localeCompare(other)),
    ).toEqual(['first', 'oops']);
    expect(news[0]).toEqual({
      kind: 'step',
      number: 1,
      of: 2,
      title: config.worktree.setup[0],
      from: 'svc.worktree.setup',
    });
    const log = readFileSync(join(base, '.logs', 'ABC-1.log'), 'utf8');
    expect(log).toContain('first\n');
    expect(log).toContain('oops\n');
    expect(log).toContain('exit code 0');
  });

  test('the six variables, literally, whatever the branch name; secrets and git variables are not there', async () => {
    const root = temporaryFolder();
    const { worktrees, read, base } = testRepository(root);
    const branch = 'feat/$(touch${IFS}x)`id`;"\'&|<>!#';
    const print =
      '{ printf "%s\\n" ${WORKTREE_PATH} ${BRANCH_NAME} "$TICKET_ID" $REPO_NAME $DIRECTORY $PROFILE; }';
    const config = {
      worktree: { setup: [`mkdir node_modules; ${print} > node_modules/seen; env > node_modules/env`] },
      thoughts: { directory: 'apps/site', profile: 'work' },
    };
    const environment = {
      SVC_WEBHOOK_SECRET: 'hush',
      SVC_RELAY_READ_KEY: 'hush',
      GIT_DIR: '/nowhere',
      GIT_INDEX_FILE: '/nowhere',
      MINE: 'yes',
    };
    const { path } = await worktrees({ config, environment }).create(branch);
    expect(read(path, 'node_modules/seen')).toBe(
      [path, branch, branch, 'web', 'apps/site', 'work', ''].join('\n'),
    );
    const seen = read(path, 'node_modules/env');
    expect(seen).toContain('MINE=yes');
    expect(seen).not.toMatch(/hush|GIT_DIR|GIT_INDEX_FILE/);
    expect(everything(root).filter((file) => file.endsWith('/x'))).toEqual([]);
    expect(path.startsWith(`${base}/feat-`)).toBe(true);
  });

  test('a filter of the person sees no secrets either', async () => {
    const root = temporaryFolder();
    const { worktrees, folder, write, read, commit } = testRepository(root);
    write(root, 'smudge', `#!/bin/sh\nenv > '${root}/filter-env'\ncat\n`);
    chmodSync(join(root, 'smudge'), 0o755);
    write(root, 'gitconfig', `[filter "own"]\n\tsmudge = ${root}/smudge\n`);
    commit(folder, '.gitattributes', '*.md filter=own\n');
    const config = {
      worktree: { setup: [] },
      monitor: {
        github: { webhookSecretEnv: 'APP_HOOK_SECRET' },
        linear: { relayReadKeyEnv: 'APP_READ_KEY' },
      },
      ai: { providers: { 'provider-a': { apiKeyEnv: 'MODEL_KEY' } } },
    };
    const secrets = [
      'SVC_WEBHOOK_SECRET',
      'SVC_TRACKER_WEBHOOK_SECRET',
      'SVC_RELAY_READ_KEY',
      'SVC_TRACKER_RELAY_READ_KEY',
      'SVC_RELAY_CHANNEL',
      'APP_HOOK_SECRET',
      'APP_READ_KEY',
      'MODEL_KEY',
    ];
    const environment = {
      MINE: 'yes',
      GIT_CONFIG_GLOBAL: join(root, 'gitconfig'),
      ...Object.fromEntries(secrets.map((name) => [name, 'hush'])),
    };
    await worktrees({ config, environment }).create('ABC-1');
    expect(read(root, 'filter-env')).toContain('MINE=yes');
    expect(read(root, 'filter-env')).not.toContain('hush');
  });

  test('detected: make setup, otherwise the lockfile; a missing program is reported', async () => {
    const { worktrees, folder, commit, read } = testRepository(temporaryFolder());
    commit(folder, 'Cargo.lock', '');
    const environment = { PATH: `${join(folder, '..', 'bin')}:/usr/bin:/bin` };
    await expect(worktrees({ environment }).create('ABC-0')).rejects.toMatchObject({
      message: expect.stringContaining(
        'cargo fetch --locked (from Cargo.lock) cannot run: the program is not installed',
      ),
      remedy: expect.stringMatching(/rustup.*svc\.worktree\.setup/),
    });
    mkdirSync(join(folder, '..', 'bin'));
    writeFileSync(
      join(folder, '..', 'bin', 'cargo'),
      '#!/bin/sh\nmkdir node_modules; echo "$@" > node_modules/cargo\n',
      {
        mode: 0o755,
      },
    );
    expect(read((await worktrees({ environment }).create('ABC-1')).path, 'node_modules/cargo')).toBe(
      'fetch --locked\n',
    );
    commit(folder, 'Makefile', 'setup:\n\tmkdir node_modules; echo $$BRANCH_NAME > node_modules/made\n');
    expect(read((await worktrees().create('ABC-2')).path, 'node_modules/made')).toBe('ABC-2\n');
  });

  test('an empty list of commands is a list: nothing runs', async () => {
    const { worktrees, folder, commit } = testRepository(temporaryFolder());
    commit(folder, 'Makefile', 'setup:\n\texit 1\n');
    const { path } = await worktrees({ config: { worktree: { setup: [] } } }).create('ABC-1');
    expect(existsSync(path)).toBe(true);
  });
});

describe('a failing step leaves nothing', () => {
  test.each(['worktree', 'hook'])('of %s', async (kind) => {
    const { worktrees, branches, git, folder, files, base, home } = testRepository(temporaryFolder());
    const commands = ['seq 1 100; echo said >&2; touch left; (sleep 60; touch late) & exit 3', 'touch never'];
    const config =
      kind === 'worktree'
        ? { worktree: { setup: commands } }
        : { orchestration: { hooks: { setup: commands } } };
    const error: Error = await worktrees({ config })
      .create('feat/x')
      .then(
        () => expect.fail(),
        (failure) => failure,
      );
    expect(error.message).toContain(`${commands[0]} (from svc.`);
    expect(error.message).toMatch(/exit code 3 after/);
    expect(error.message).toMatch(/ {2}100\n/);
    expect(error.message).not.toMatch(/^ {2}50$/m);
    expect(error.message).toMatch(/Full output: .*\.logs\/feat-x-\w+\.log/);
    expect(error.message).toContain('The worktree was removed again.');
    expect(branches()).toEqual(['main']);
    expect(git(folder, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(files()).toEqual([expect.stringMatching(/^\.logs\/feat-x-\w+\.log$/)]);
    expect(readFileSync(join(base, files()[0] ?? ''), 'utf8')).toContain('\n50\n');
    expect(
      existsSync(join(home, '.claude.json')) ? readFileSync(join(home, '.claude.json'), 'utf8') : '',
    ).not.toContain('feat');
  });

  test('a branch that existed before stays', async () => {
    const { worktrees, branches, git, folder } = testRepository(temporaryFolder());
    git(folder, 'branch', 'mine');
    await expect(worktrees({ config: { worktree: { setup: ['false'] } } }).create('mine')).rejects.toThrow(
      'exit code 1',
    );
    expect(branches()).toEqual(['main', 'mine']);
  });

  test('a branch with new commits stays, and the message says so', async () => {
    const { worktrees, branches } = testRepository(temporaryFolder());
    const config = { worktree: { setup: ['git commit -q --allow-empty -m x && false'] } };
    await expect(worktrees({ config }).create('ABC-1')).rejects.toThrow('has new commits and was kept');
    expect(branches()).toEqual(['ABC-1', 'main']);
  });

  test('a step that takes too long is ended with everything it started', async () => {
    const root = temporaryFolder();
    const { worktrees, branches, files } = testRepository(root);
    const config = {
      worktree: { setup: [`trap '' TERM; sleep 600 & echo $! > ${root}/pid; wait; sleep 600`] },
    };
    // The shell itself ignores the request, so it is killed after 5 s. On a slow machine it may not have
    // got that far when the time is over: then it gets more.
    const usualTime = hurry(10);
    for (let ms = 300; !existsSync(join(root, 'pid')); ms *= 2) {
      const made = worktrees({ config, stepTimeoutMs: ms }).create('ABC-1');
      await expect(made).rejects.toThrow(`took longer than ${ms / 1000} s`);
    }
    usualTime();
    expect(branches()).toEqual(['main']);
    expect(files()).toEqual(['.logs/ABC-1.log']);
    const pid = needPid(await textIn(join(root, 'pid')));
    await until(() => !lives(pid));
  });

  test('interrupted', async () => {
    const root = temporaryFolder();
    const { worktrees, branches, files } = testRepository(root);
    const interrupt = new AbortController();
    const config = { worktree: { setup: [`sleep 600 & echo $! > ${root}/pid; wait`] } };
    const making = worktrees({ config }).create('ABC-1', { signal: interrupt.signal });
    const pid = needPid(await textIn(join(root, 'pid')));
    interrupt.abort();
    await expect(making).rejects.toThrow('was stopped after');
    await until(() => !lives(pid));
    expect(branches()).toEqual(['main']);
    expect(files()).toEqual(['.logs/ABC-1.log']);
  });

  test('endless output is kept up to a limit, and a background process does not delay it', async () => {
    const root = temporaryFolder();
    const { worktrees, files, base } = testRepository(root);
    // It keeps the output open for longer than the runner waits.
    const background = `sleep 600 & echo $$ > ${root}/group`;
    const config = {
      worktree: { setup: [`head -c 15000000 /dev/zero | tr "\\0" "x"; ${background}; echo; echo end`] },
    };
    onTestFinished(() => killGroup(Number(readFileSync(join(root, 'group'), 'utf8'))));
    await worktrees({ config }).create('ABC-1');
    const log = readFileSync(join(base, files().find((file) => file.startsWith('.logs')) ?? ''), 'utf8');
    expect(log.length).toBeGreaterThan(10 * 1024 * 1024);
    expect(log.length).toBeLessThan(10 * 1024 * 1024 + 2000);
    expect(log).toContain('the rest is not kept');
  });
});

describe('refused before anything is created', () => {
  const hostile = [
    '../../escape',
    '..',
    '/etc/x',
    '-rf',
    '--force',
    'a b',
    'a\nb',
    'a\u0000b',
    '"; touch canary; "',
    "'; touch canary; '",
    '$(touch canary)',
    '`touch canary`',
    'a\\b',
    'x'.repeat(201),
    '.git',
    'a.lock',
    '\u202eabc',
    '',
  ];
  test('names that are not branches', async () => {
    const root = temporaryFolder();
    const { worktrees, branches } = testRepository(root, {
      config: { worktree: { setup: ['touch canary'] } },
    });
    await worktrees().list();
    const before = everything(root);
    for (const name of hostile) {
      await expect(worktrees().create(name), name).rejects.toMatchObject({ code: 'usage' });
      await expect(worktrees().remove(name), name).rejects.toMatchObject({ code: 'not-registered' });
    }
    expect(everything(root)).toEqual(before);
    expect(branches()).toEqual(['main']);
  });

  const legal = [
    'a"b',
    "it's",
    'a;touch${IFS}canary',
    '$(touch${IFS}canary)',
    '`touch${IFS}canary`',
    'größe/日本',
    'x'.repeat(200),
    'a|b&c',
    '%s%n',
    '!x#y',
    '{a,b}=c',
  ];
  test('names that git allows: created inside the base, no command runs, and they are removed again', async () => {
    const root = temporaryFolder();
    const config = {
      worktree: {
        setup: ['mkdir node_modules; printf %s "${BRANCH_NAME}" > node_modules/seen; true ${BRANCH_NAME}'],
      },
    };
    const { worktrees, base, read, branches, files } = testRepository(root, { config });
    const outside = (): string[] =>
      everything(root).filter((file) => !/\/(home|web\/\.git)\//.test(file.slice(root.length)));
    const before = outside();
    for (const branch of legal) {
      const { path } = await worktrees().create(branch);
      expect(path.startsWith(`${base}/`) && !path.slice(base.length + 1).includes('/'), branch).toBe(true);
      expect(read(path, 'node_modules/seen')).toBe(branch);
      expect(branches()).toContain(branch);
      await worktrees().remove(branch);
    }
    expect(branches()).toEqual(['main']);
    expect(files().filter((file) => !/^\.kept\/[^/]*\.bundle$/.test(file))).toEqual([]);
    expect(everything(root).filter((file) => file.endsWith('/canary'))).toEqual([]);
    expect(outside()).toEqual(before);
  });

  test('an existing folder, a link to elsewhere, an existing worktree', async () => {
    const root = temporaryFolder();
    const { worktrees, base } = testRepository(root);
    mkdirSync(join(base, 'ABC-1'), { recursive: true });
    writeFileSync(join(base, 'ABC-1', 'mine'), 'x');
    symlinkSync(join(root, 'elsewhere'), join(base, 'ABC-2'));
    await expect(worktrees().create('ABC-1')).rejects.toThrow('is not a worktree of this project');
    await expect(worktrees().create('ABC-2')).rejects.toThrow('is not a worktree of this project');
    await worktrees().create('ABC-3');
    await expect(worktrees().create('ABC-3')).rejects.toThrow('exists already');
    await expect(worktrees().create('main')).rejects.toThrow('already checked out');
    expect(readFileSync(join(base, 'ABC-1', 'mine'), 'utf8')).toBe('x');
  });

  test('outside a repository, and without a project key', async () => {
    const { worktrees, folder } = testRepository(temporaryFolder());
    const config = { projectKey: undefined } as object;
    await expect(worktrees({ config }).create('ABC-1')).rejects.toThrow('svc.projectKey');
    execFileSync('rm', ['-rf', join(folder, '.git')]);
    await expect(worktrees().create('ABC-1')).rejects.toThrow('is not in a git checkout');
  });
});

test('two creates of one name: one wins, the other is refused; different names do not affect each other', async () => {
  const root = temporaryFolder();
  // None ends before one was refused.
  const { worktrees, git, folder } = testRepository(root, {
    config: {
      worktree: { setup: [`while [ -d ${root}/web ] && [ ! -e ${root}/refused ]; do sleep 0.02; done`] },
    },
  });
  const same = [worktrees().create('ABC-1'), worktrees().create('ABC-1')];
  const others = Array.from({ length: 4 }, (_, at) => worktrees().create(`XYZ-${at}`));
  const results = Promise.allSettled([...same, ...others]);
  await expect(Promise.race(same)).rejects.toThrow('Another command is creating or removing ABC-1');
  writeFileSync(join(root, 'refused'), '');
  expect((await results).filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  expect(git(folder, 'worktree', 'list').split('\n')).toHaveLength(6);
});

test('killed midway: partly created, refused by the next create, cleaned up by remove, the step ended', async () => {
  const root = temporaryFolder();
  const { worktrees, files, branches, git, folder, base } = testRepository(root);
  const setup = [`touch stray; echo $$ > ${root}/pid.new; mv ${root}/pid.new ${root}/pid; exec sleep 600`];
  const script = `
    const { worktreesOf } = await import(${JSON.stringify(join(import.meta.dirname, '../testing', 'again.ts'))});
    await worktreesOf(${JSON.stringify(root)}, ${JSON.stringify(setup)}).create('ABC-1');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  // The step runs, and a process after the crash can find it.
  const pid = needPid(await textIn(join(root, 'pid')));
  onTestFinished(() => killGroup(pid));
  await until(() => JSON.parse(readFileSync(join(base, '.records', 'ABC-1.json'), 'utf8')).step);
  expect(await worktrees().list()).toMatchObject([{ name: 'ABC-1', state: 'being created' }]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(lives(pid)).toBe(true);
  expect(await worktrees().list()).toMatchObject([{ name: 'ABC-1', state: 'partly created' }]);
  await expect(worktrees().create('ABC-1')).rejects.toThrow('partly created');
  const { kept } = await worktrees().remove('ABC-1');
  expect(kept).not.toBeNull();
  await until(() => !lives(pid));
  expect(branches()).toEqual(['main']);
  expect(git(folder, 'worktree', 'list').split('\n')).toHaveLength(1);
  expect(files()).toEqual([kept?.slice(base.length + 1)]);
  await worktrees().create('ABC-1');
});
