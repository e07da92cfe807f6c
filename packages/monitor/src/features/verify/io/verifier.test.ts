// Real git repositories, real processes.

import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { SignalFile } from '@svc/contract/signal-file';
import { needPid } from '@svc/lib/pid';
import { runCommand } from '@svc/lib/process';
import { system } from '@svc/lib/system';
import { temporaryFolder, until, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createFileLocks } from '../../../kernel/disk/lock.ts';
import { type EventDraft, parseEventDraft } from '../../../kernel/log/event-line.ts';
import type { Config } from '../../config.ts';
import { resolveConfig } from '../../configure.ts';
import { topics } from '../../topics.ts';
import { createSignalStore } from '../../workers/io/signal-store.ts';
import { createAskGit } from './ask-git.ts';
import { stateOfWorktree } from './ask-verifier.ts';
import { createVerifier, type Verified, type VerifyRequest } from './verifier.ts';

const gitEnvironment = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Kim',
  GIT_AUTHOR_EMAIL: 'kim@acme.example',
  GIT_COMMITTER_NAME: 'Kim',
  GIT_COMMITTER_EMAIL: 'kim@acme.example',
};
const time = '2026-03-01T10:00:00.000Z';

type Files = Record<string, string | null>;

function repositoryIn(root: string, name = 'shop') {
  const folder = join(root, name);
  mkdirSync(folder);
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', folder, ...args], { env: gitEnvironment, encoding: 'utf8' }).trim();
  git('init', '-q', '-b', 'main');
  const commit = (files: Files): string => {
    for (const [path, text] of Object.entries(files)) {
      const file = join(folder, path);
      if (text === null) rmSync(file);
      else {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
    }
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'change');
    return git('rev-parse', 'HEAD');
  };
  return { folder, git, commit };
}

const start: Files = {
  Makefile: 'test:\n\tsh run-tests.sh\n',
  'run-tests.sh': 'echo all good\n',
  'src/cart.ts': 'export const add = (a: number, b: number) => a + b;\n',
  'src/cart.test.ts': `it('adds', () => {\n  expect(add(1, 2)).toBe(3);\n  expect(add(2, 2)).toBe(4);\n});\n`,
};

function world(
  svc: Record<string, unknown> = {},
  options: { testTimeoutMs?: number; environment?: Record<string, string> } = {},
) {
  const root = temporaryFolder();
  const repository = repositoryIn(root);
  const runsDir = join(root, 'runs');
  const worktreeBase = join(root, 'wt');
  const appended: EventDraft[] = [];
  const signals = createSignalStore({
    runsDir,
    locks: createFileLocks({ folder: join(root, 'locks'), timeoutMs: WAIT_MS }),
    now: () => new Date(time),
  });
  const verifier = () =>
    createVerifier({
      config: configOf(svc),
      environment: { ...gitEnvironment, HOME: root, ...options.environment },
      runsDir,
      signals,
      append: (draft) => {
        const parsed = parseEventDraft(topics, draft);
        if (!parsed.ok) throw new Error(JSON.stringify(parsed));
        if (!appended.some(({ deliveryId }) => deliveryId === draft.deliveryId)) appended.push(draft);
        return Promise.resolve();
      },
      // No verifier is configured here; with one: e2e/verifier-agent.test.ts.
      agent: {
        choose: () => Promise.reject(new Error('no verifier is configured')),
        environment: () => ({}),
        readTicket: () => Promise.reject(new Error('no verifier is configured')),
      },
      now: () => new Date(time),
      ...(options.testTimeoutMs !== undefined && { testTimeoutMs: options.testTimeoutMs }),
    });
  const request = (mergeSha: string): VerifyRequest => ({
    orchestrator: 'run-1',
    ticket: 'ENG-1',
    repoFolder: repository.folder,
    mergeSha,
    worktreeBase,
  });
  return {
    root,
    runsDir,
    worktreeBase,
    repository,
    appended,
    signals,
    request,
    verifier,
    verify: (mergeSha: string, more: Partial<VerifyRequest> = {}) =>
      verifier().verify({ ...request(mergeSha), ...more }),
    /** The existing throw-away worktrees, by git and on the disk. */
    left: () => ({
      folders: readdirSync(join(worktreeBase, '.verify')).filter((name) => name !== '.lock'),
      worktrees: repository.git('worktree', 'list', '--porcelain').split('\n\n').length,
    }),
  };
}

const nothingLeft = { folders: [], worktrees: 1 };

function configOf(svc: Record<string, unknown>): Config {
  const file = {
    path: '/conf/project.json',
    layers: ['project' as const],
    reads: ['project' as const],
    data: { svc },
    lineOf: () => 1,
  };
  const { config, problems } = resolveConfig([file], {});
  if (config === undefined) throw new Error(JSON.stringify(problems));
  return config;
}

function resultOf(verified: Verified) {
  if (!verified.ok) throw new Error(verified.reason);
  return verified.result;
}
const kindsOf = (verified: Verified) =>
  resultOf(verified).findings.map(({ kind, severity, path }) =>
    [kind, severity, path ?? ''].join(' ').trim(),
  );

const signal: SignalFile = {
  ticket: 'ENG-1',
  orchestrator: 'run-1',
  workerName: 'ENG-1',
  status: 'merged',
  phase: 'merged',
  startedAt: time,
  updatedAt: time,
};

test('a commit with tests passes, with evidence in the log, the signal file and beside it', async () => {
  const { repository, verify, appended, signals, left, runsDir } = world();
  repository.commit(start);
  const sha = repository.commit({
    'src/cart.ts': `${start['src/cart.ts']}export const sub = (a: number, b: number) => a - b;\n`,
    'src/cart.test.ts': `${start['src/cart.test.ts']}it('takes', () => {\n  expect(sub(2, 1)).toBe(1);\n});\n`,
  });
  await signals.create(signal);
  const verified = await verify(sha, { repo: 'acme/shop', pr: 7 });
  const logPath = join(runsDir, 'run-1', 'verification', `ENG-1-${sha.slice(0, 12)}.log`);
  expect(verified).toMatchObject({
    ok: true,
    fresh: true,
    result: {
      passed: true,
      blocking: 0,
      findings: [],
      scope: 'backend',
      types: [{ type: 'unit', state: 'in-diff', examples: ['src/cart.test.ts'] }],
      evidence: { sha, logPath, testCommand: 'make test', exitCode: 0 },
    },
  });
  expect(readFileSync(logPath, 'utf8')).toContain('all good');
  expect(appended).toMatchObject([
    {
      event: 'orchestrator.verification.started',
      scope: { ticket: 'ENG-1', mergeSha: sha, repo: 'acme/shop', pr: 7 },
    },
    {
      event: 'orchestrator.verification.passed',
      detail: { testCommand: 'make test', exitCode: 0, logPath, blocking: 0 },
    },
  ]);
  expect(await signals.read('run-1', 'ENG-1')).toMatchObject({
    signal: { status: 'merged', verification: { status: 'passed', sha, logPath } },
  });
  expect(left()).toEqual(nothingLeft);
});

test('a result is not computed twice, even by another process, and reported again if it was not', async () => {
  const { repository, verify, appended, runsDir, signals } = world({
    orchestration: { testCommand: 'date +%N' },
  });
  const sha = repository.commit(start);
  const first = await verify(sha);
  expect(first).toMatchObject({ fresh: true, signalProblem: 'the status file is missing' });
  await signals.create(signal);
  appended.length = 0;
  const second = await verify(sha);
  expect(second).toMatchObject({ ok: true, fresh: false, result: resultOf(first) });
  expect(appended.map(({ event }) => event)).toEqual(['orchestrator.verification.passed']);
  expect(await signals.read('run-1', 'ENG-1')).toMatchObject({
    signal: { verification: { status: 'passed' } },
  });
  // A broken result does not count.
  writeFileSync(join(runsDir, 'run-1', 'verification', `ENG-1-${sha.slice(0, 12)}.json`), '{"passed": true}');
  expect(await verify(sha)).toMatchObject({ ok: true, fresh: true });
});

test('failing tests fail it; advisory if self-reported completion is allowed', async () => {
  for (const allowSelfReportedCompletion of [false, true]) {
    const { repository, verify, appended, left } = world({ orchestration: { allowSelfReportedCompletion } });
    repository.commit(start);
    const sha = repository.commit({ 'run-tests.sh': 'echo broken >&2\nexit 3\n' });
    const verified = await verify(sha);
    expect(kindsOf(verified)).toEqual(['tests-failed blocking']);
    expect(resultOf(verified)).toMatchObject({
      passed: false,
      evidence: { testCommand: 'make test', exitCode: 2 },
    });
    expect(readFileSync(resultOf(verified).evidence.logPath, 'utf8')).toContain('broken');
    expect(appended.at(-1)).toMatchObject({
      event: 'orchestrator.verification.failed',
      detail: { advisory: allowSelfReportedCompletion, blocking: 1 },
    });
    expect(left()).toEqual(nothingLeft);
  }
});

const testFile = start['src/cart.test.ts'] ?? '';
test.each<[string, Files, string[]]>([
  [
    'a skipped test',
    { 'src/cart.test.ts': testFile.replace('it(', 'it.skip(') },
    ['test-skipped advisory src/cart.test.ts'],
  ],
  [
    'an emptied test',
    { 'src/cart.test.ts': `it('adds', () => {\n});\n` },
    ['assertion-removed advisory src/cart.test.ts'],
  ],
  [
    'a removed assertion',
    { 'src/cart.test.ts': testFile.replace('  expect(add(2, 2)).toBe(4);\n', '') },
    ['assertion-removed advisory src/cart.test.ts'],
  ],
  ['a deleted test', { 'src/cart.test.ts': null }, ['test-removed advisory src/cart.test.ts']],
  [
    'a code file without tests near it',
    { 'lib/far/away.ts': 'export const x = 1;\n' },
    ['test-type-missing blocking'],
  ],
  [
    'attributes that hide the diff',
    { '.gitattributes': '* -diff\n*.ts binary\n', 'src/cart.test.ts': testFile.replace('it(', 'it.skip(') },
    ['test-skipped advisory src/cart.test.ts'],
  ],
  ['documentation', { 'README.md': '# Shop\n' }, []],
])('%s', async (_name, files, kinds) => {
  const { repository, verify } = world();
  repository.commit(start);
  const verified = await verify(repository.commit(files));
  expect(kindsOf(verified)).toEqual(kinds);
  // Advice does not fail it.
  expect(resultOf(verified).passed).toBe(!kinds.some((kind) => kind.includes('blocking')));
});

test('required types: present, missing, and one that cannot be checked', async () => {
  const { repository, verify } = world({
    orchestration: { testRequirements: { backend: ['unit', 'e2e', 'vibes'] } },
  });
  repository.commit(start);
  const verified = await verify(repository.commit({ 'src/cart.ts': 'export const add = 1;\n' }));
  expect(resultOf(verified).types.map(({ type, state }) => `${type} ${state}`)).toEqual([
    'unit nearby',
    'e2e missing',
    'vibes unknown',
  ]);
  expect(resultOf(verified).passed).toBe(false);
});

test.each([
  ['backend', ['server/cart.go']],
  ['frontend', ['web/cart.tsx']],
  ['fullstack', ['server/cart.go', 'web/cart.tsx']],
])('the types that are demanded are those of the scope: %s', async (scope, paths) => {
  const testRequirements = {
    backend: ['of backend'],
    frontend: ['of frontend'],
    fullstack: ['of fullstack'],
  };
  const { repository, verify } = world({ orchestration: { testRequirements } });
  repository.commit(start);
  const verified = await verify(repository.commit(Object.fromEntries(paths.map((path) => [path, 'x\n']))));
  expect(resultOf(verified).types.map(({ type }) => type)).toEqual([`of ${scope}`]);
});

test('a merge is compared with its first parent, or with the given base', async () => {
  const { repository, verify } = world();
  const first = repository.commit(start);
  repository.git('checkout', '-q', '-b', 'feature');
  repository.commit({ 'src/cart.test.ts': testFile.replace('it(', 'it.skip(') });
  repository.git('checkout', '-q', 'main');
  repository.commit({ 'src/other.ts': 'export {};\n', 'src/other.test.ts': 'it.skip("x")\n' });
  repository.git('merge', '-q', '--no-ff', '-m', 'merge', 'feature');
  const merge = repository.git('rev-parse', 'HEAD');
  expect(kindsOf(await verify(merge))).toEqual(['test-skipped advisory src/cart.test.ts']);
  expect(kindsOf(await verify(merge, { ticket: 'ENG-2', base: first }))).toEqual([
    'test-skipped advisory src/cart.test.ts',
    'test-skipped advisory src/other.test.ts',
  ]);
});

test('no test command is a finding', async () => {
  const { repository, verify } = world();
  const sha = repository.commit({
    'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}',
    'src/a.go': 'package a\n',
    'src/a_test.go': 'package a\n',
  });
  expect(kindsOf(await verify(sha))).toContain('no-test-command blocking');
});

test('setup runs first, with the six variables as values; its failure is a finding', async () => {
  const { repository, verify } = world({
    worktree: { setup: ['echo "at ${WORKTREE_PATH} for $TICKET_ID" > made.txt'] },
    orchestration: {
      testCommand: 'cat made.txt',
      hooks: { setup: ['echo hook >> made.txt'], teardown: ['echo bye'] },
    },
  });
  const sha = repository.commit(start);
  const log = readFileSync(resultOf(await verify(sha)).evidence.logPath, 'utf8');
  expect(log).toMatch(/at \/.*\/wt\/\.verify\/ENG-1-[0-9a-f]{12} for ENG-1\nhook\n/);
  expect(log).toContain('bye');

  const broken = world({ worktree: { setup: ['exit 4'] } });
  const verified = await broken.verify(broken.repository.commit(start));
  expect(kindsOf(verified)).toContain('setup-failed blocking');
  expect(broken.left()).toEqual(nothingLeft);
});

test('the setup and the tests see no secret', async () => {
  const secrets = [
    'SVC_WEBHOOK_SECRET',
    'ANTHROPIC_API_KEY',
    'GH_TOKEN',
    'LINEAR_API_KEY',
    'NPM_TOKEN',
    'GIT_DIR',
  ];
  const { repository, verify } = world(
    {
      orchestration: { testCommand: 'env', hooks: { teardown: ['env'] } },
      worktree: { setup: ['echo setup of ${TICKET_ID}; env'] },
    },
    // A variable that would redirect git is removed.
    { environment: Object.fromEntries(secrets.map((name) => [name, 'hidden-value'])) },
  );
  const log = readFileSync(resultOf(await verify(repository.commit(start))).evidence.logPath, 'utf8');
  expect(log).toContain('setup of ENG-1\n');
  expect(log.match(/^CI=true$/gm)).toHaveLength(3);
  expect(log).not.toContain('hidden-value');
});

test('nothing of the commit runs while it is checked out', async () => {
  const { repository, verify, root } = world();
  repository.commit(start);
  repository.git('config', 'core.hooksPath', 'hooks');
  const sha = repository.commit({ 'hooks/post-checkout': `#!/bin/sh\ntouch ${root}/ran\n` });
  execFileSync('chmod', ['+x', join(repository.folder, 'hooks/post-checkout')]);
  repository.git('update-index', '--chmod=+x', 'hooks/post-checkout');
  repository.git('commit', '-q', '--amend', '-m', 'executable');
  const amended = repository.git('rev-parse', 'HEAD');
  expect(amended).not.toBe(sha);
  rmSync(join(root, 'ran'), { force: true });
  await verify(amended);
  expect(existsSync(join(root, 'ran'))).toBe(false);
});

const isRunning = async (pid: number): Promise<boolean> =>
  (await system.processStarts([pid])).get(pid)?.state === 'running';

test('a hanging test is ended with everything it started', async () => {
  const hang = async (testTimeoutMs: number) => {
    const { repository, verify, root, left } = world({}, { testTimeoutMs });
    const pids = join(root, 'pids');
    const script = `sleep 600 &\necho $! >> ${pids}\necho $$ >> ${pids}\necho started\nwait\n`;
    const verified = await verify(repository.commit({ ...start, 'run-tests.sh': script }));
    expect(kindsOf(verified)).toContain('tests-timed-out blocking');
    const { exitCode, logPath } = resultOf(verified).evidence;
    expect(exitCode).toBeNull();
    return { log: readFileSync(logPath, 'utf8'), pids, left };
  };
  let ms = 400;
  let hung = await hang(ms);
  // On a slow machine the tests may not have started when their time is over: then they get more.
  while (!hung.log.includes('\nstarted\n')) hung = await hang((ms *= 2));
  const { pids, left } = hung;
  for (const pid of readFileSync(pids, 'utf8').trim().split('\n'))
    await until(async () => !(await isRunning(Number(pid))));
  expect(left()).toEqual(nothingLeft);
});

test('background processes of passing tests are ended too', async () => {
  const { repository, verify, root } = world();
  const sha = repository.commit({
    ...start,
    'run-tests.sh': `sleep 600 >/dev/null 2>&1 &\necho $! > ${root}/pid\n`,
  });
  expect(resultOf(await verify(sha)).evidence.exitCode).toBe(0);
  await until(async () => !(await isRunning(needPid(readFileSync(join(root, 'pid'), 'utf8')))));
});

test('a stop ends the tests and gives no result', async () => {
  const { repository, verifier, request, root, left, appended, worktreeBase } = world();
  const sha = repository.commit({ ...start, 'run-tests.sh': `echo $$ > ${root}/pid\nsleep 600\n` });
  const stop = new AbortController();
  const verified = verifier().verify({ ...request(sha), signal: stop.signal });
  await until(() => existsSync(join(root, 'pid')) && readFileSync(join(root, 'pid'), 'utf8').endsWith('\n'));
  // So the next process would find what this one left, if it were killed now.
  const remembered = (): string | undefined =>
    readdirSync(join(worktreeBase, '.verify')).find((name) => name.endsWith('.process.json'));
  await until(() => remembered() !== undefined);
  const { pid } = JSON.parse(readFileSync(join(worktreeBase, '.verify', remembered() ?? ''), 'utf8'));
  expect(await isRunning(pid)).toBe(true);
  stop.abort();
  expect(await verified).toMatchObject({ ok: false, reason: 'The verification was stopped.' });
  await until(async () => !(await isRunning(needPid(readFileSync(join(root, 'pid'), 'utf8')))));
  expect(left()).toEqual(nothingLeft);
  expect(appended.map(({ event }) => event)).toEqual(['orchestrator.verification.started']);
});

test('what a crash left is removed: folders, git entries, and tests that still run', async () => {
  const { repository, verify, worktreeBase, left } = world();
  const sha = repository.commit(start);
  const folder = join(worktreeBase, '.verify');
  mkdirSync(folder, { recursive: true });
  repository.git('worktree', 'add', '--detach', '--lock', join(folder, 'OLD-1-0123456789ab'), sha);
  repository.git('worktree', 'add', '--detach', join(folder, 'GONE-1-0123456789ab'), sha);
  rmSync(join(folder, 'GONE-1-0123456789ab'), { recursive: true });
  repository.git('worktree', 'add', '--detach', join(folder, `ENG-1-${sha.slice(0, 12)}`), sha);
  mkdirSync(join(folder, 'HALF-1-0123456789ab'));
  symlinkSync(repository.folder, join(folder, 'LINK-1-0123456789ab'));
  const child = spawn('/bin/sh', ['-c', 'sleep 600 & wait'], { detached: true, stdio: 'ignore' });
  const pid = child.pid ?? 0;
  onTestFinished(() => void child.kill('SIGKILL'));
  const began = (await system.processStarts([pid])).get(pid);
  const mark = began?.state === 'running' ? began.mark : '';
  writeFileSync(join(folder, 'OLD-1-0123456789ab.process.json'), JSON.stringify({ pid, mark }));
  // A pid that another process has by now: this one.
  writeFileSync(
    join(folder, 'HALF-1-0123456789ab.process.json'),
    JSON.stringify({ pid: process.pid, mark: 'other' }),
  );
  expect(await verify(sha)).toMatchObject({ ok: true, result: { evidence: { exitCode: 0 } } });
  await until(async () => !(await isRunning(pid)));
  expect(left()).toEqual(nothingLeft);
  expect(existsSync(join(repository.folder, 'Makefile'))).toBe(true);
});

test('a missing commit is fetched; one that does not exist gives a clear reason', async () => {
  const { root, verifier, request, appended } = world();
  const upstream = repositoryIn(root, 'upstream');
  upstream.commit(start);
  execFileSync('git', ['clone', '-q', upstream.folder, join(root, 'clone')], { env: gitEnvironment });
  const sha = upstream.commit({ 'src/cart.ts': 'export const add = 2;\n' });
  const asked = { ...request(sha), repoFolder: join(root, 'clone') };
  expect(await verifier().verify(asked)).toMatchObject({ ok: true, result: { passed: true } });
  appended.length = 0;
  const nowhere = await verifier().verify({ ...asked, mergeSha: 'f'.repeat(40) });
  expect(nowhere).toMatchObject({ ok: false, reason: expect.stringContaining('could not be fetched') });
  expect(appended.map(({ event }) => event)).toEqual(['orchestrator.verification.started']);
  const alone = repositoryIn(root, 'alone');
  alone.commit(start);
  expect(
    await verifier().verify({ ...asked, repoFolder: alone.folder, mergeSha: 'f'.repeat(40) }),
  ).toMatchObject({
    ok: false,
    reason: expect.stringContaining('the repository has no remote'),
  });
});

test('a shallow clone still compares with the parent', async () => {
  const { root, verifier, request } = world();
  const upstream = repositoryIn(root, 'upstream');
  upstream.commit(start);
  const sha = upstream.commit({ 'src/cart.ts': 'export const add = 2;\n' });
  const clone = join(root, 'shallow');
  execFileSync('git', ['clone', '-q', '--depth=1', `file://${upstream.folder}`, clone], {
    env: gitEnvironment,
  });
  const verified = await verifier().verify({ ...request(sha), repoFolder: clone });
  expect(resultOf(verified).types).toMatchObject([{ type: 'unit', state: 'nearby' }]);
});

test('hostile file names are only content', async () => {
  const { repository, verify, root } = world();
  repository.commit(start);
  const skip = "it.skip('x', () => {\n  run();\n});\n";
  const names = [
    `src/$(touch ${'x'.repeat(5)}).test.ts`,
    'src/--output=x.test.ts',
    'src/a\n+++ b/src/fake.ts\n.test.ts',
    'src/"quoted".test.ts',
    'src/größe \t.test.ts',
    'src/ space .test.ts',
    '-rf.test.ts',
    'src/:(top)magic.test.ts',
  ];
  const sha = repository.commit(Object.fromEntries(names.map((name) => [name, skip])));
  const verified = await verify(sha);
  expect(kindsOf(verified)).toHaveLength(names.length);
  expect(resultOf(verified).findings.every(({ path }) => path !== undefined && !/\p{Cc}/u.test(path))).toBe(
    true,
  );
  expect(readdirSync(root).toSorted()).toEqual(
    ['locks', 'runs', 'shop', 'wt'].filter((name) => existsSync(join(root, name))),
  );
});

test.each([
  { orchestrator: '../x' },
  { ticket: '../../etc' },
  { ticket: '-rf' },
  { ticket: 'a..b' },
  { ticket: 'a b' },
  { mergeSha: '--output=/tmp/x' },
  { mergeSha: 'HEAD' },
  { base: '--all' },
])('refused before anything is made: %j', async (hostile) => {
  const { repository, verify, worktreeBase, appended } = world();
  const sha = repository.commit(start);
  expect(await verify(sha, hostile)).toMatchObject({ ok: false });
  expect(existsSync(worktreeBase)).toBe(false);
  expect(appended).toEqual([]);
});

test('a diff that is too large to scan is a finding', async () => {
  const { repository, verify } = world();
  repository.commit(start);
  const sha = repository.commit({ 'src/cart.ts': `// ${'x'.repeat(98)}\n`.repeat(60_000) });
  expect(kindsOf(await verify(sha))).toEqual(['not-scanned advisory']);
});

test('endless output is cut, and its last lines are kept', async () => {
  const { repository, verify } = world();
  const sha = repository.commit({
    ...start,
    'run-tests.sh': 'yes line | head -n 4000000\necho the end\nexit 1\n',
  });
  const log = readFileSync(resultOf(await verify(sha)).evidence.logPath, 'utf8');
  expect(log.length).toBeLessThan(10.1 * 1024 * 1024);
  expect(log).toContain('the end');
});

test('one at a time; the same commit of a ticket is verified once', async () => {
  const { repository, verifier, request, root } = world({
    orchestration: {
      testCommand: 'mkdir "$HOME"/busy && sleep 0.2 && rmdir "$HOME"/busy && echo x >> "$HOME"/count',
    },
  });
  const sha = repository.commit(start);
  const { verify } = verifier();
  const verified = await Promise.all([
    verify(request(sha)),
    verify(request(sha)),
    verify({ ...request(sha), ticket: 'ENG-2' }),
  ]);
  expect(verified.map((one) => resultOf(one).evidence.exitCode)).toEqual([0, 0, 0]);
  expect(readFileSync(join(root, 'count'), 'utf8')).toBe('x\nx\n');
});

test('a worktree that cannot be read does not count as unchanged', async () => {
  const git = createAskGit({ run: runCommand, environment: gitEnvironment, secretNames: [] });
  const { folder } = repositoryIn(temporaryFolder());
  expect(await stateOfWorktree(git, folder)).toBe(await stateOfWorktree(git, folder));
  const gone = join(folder, 'gone');
  expect(await stateOfWorktree(git, gone)).not.toBe(await stateOfWorktree(git, gone));
});
