// Real git and the real client program against the fake code host.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { type RunCommand, runCommand } from '@svc/lib/process';
import {
  codehostForTest,
  type FakeCodehost,
  ghEnvironment,
  mergedWorker,
  sampleBoard,
  sampleDeployment,
  sampleTime,
  temporaryFolder,
  testToken,
} from '@svc/testkit';
import { expect, test } from 'vitest';
import { type EventDraft, parseEventDraft } from '../../../kernel/log/event-line.ts';
import { foldLine } from '../../board.ts';
import { createGh } from '../../codehost/gh.ts';
import { topics } from '../../topics.ts';
import { createDescendantProof } from './prove-descendant.ts';

const gitEnvironment = {
  PATH: '/usr/bin:/bin',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Kim',
  GIT_AUTHOR_EMAIL: 'kim@acme.example',
  GIT_COMMITTER_NAME: 'Kim',
  GIT_COMMITTER_EMAIL: 'kim@acme.example',
};

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { env: gitEnvironment, encoding: 'utf8' }).trim();
}

/** A repository: base, the merge on it, a commit after the merge, and a branch beside it. */
function repository() {
  const folder = join(temporaryFolder(), 'web');
  mkdirSync(folder);
  git(folder, 'init', '-q', '-b', 'main');
  const commit = (message: string): string => {
    git(folder, 'commit', '-q', '--allow-empty', '-m', message);
    return git(folder, 'rev-parse', 'HEAD');
  };
  const base = commit('base');
  const merge = commit('merge');
  const after = commit('after');
  git(folder, 'checkout', '-q', '-b', 'beside', base);
  return { folder, base, merge, after, beside: commit('beside') };
}

function prover(codehost: FakeCodehost | undefined) {
  const appended: EventDraft[] = [];
  const commands: string[] = [];
  const run: RunCommand = (command) => {
    commands.push(`${command.file} ${command.args.slice(2).join(' ')}`);
    return runCommand(command);
  };
  const environment = codehost ? ghEnvironment(codehost, testToken) : { PATH: '/usr/bin:/bin' };
  const prove = createDescendantProof({
    run,
    environment,
    gh: createGh({ environment, run: runCommand, now: Date.now }),
    append: async (draft) => void appended.push(draft),
    now: Date.now,
  });
  const effect = { key: '1:prove-descendant:x', seq: 1, kind: 'prove-descendant', repo: 'acme/web' } as const;
  return {
    appended,
    commands,
    prove: (mergeSha: string, sha: string, worktreePath: string | null) =>
      prove({ ...effect, mergeSha, sha, worktreePath }, { signal: new AbortController().signal }),
  };
}

test('git in the worktree answers, without a call', async () => {
  const { folder, merge, after, beside } = repository();
  const { prove, appended } = prover(undefined);
  expect(await prove(merge, after, folder)).toEqual({ done: 'contains it, according to git' });
  expect(await prove(merge, beside, folder)).toEqual({ done: 'does not contain it, according to git' });
  await prove(merge, merge, folder);
  expect(appended.map(({ detail }) => detail)).toEqual([
    { contains: true, by: 'git' },
    { contains: false, reverted: false, by: 'git' },
    { contains: true, by: 'git' },
  ]);
  expect(appended[0]).toMatchObject({
    event: 'orchestrator.deploy.descendant_checked',
    deliveryId: 'descendant:1:prove-descendant:x',
    scope: { repo: 'acme/web', mergeSha: merge, sha: after },
  });
  expect(appended.map((draft) => parseEventDraft(topics, draft).ok)).toEqual([true, true, true]);
});

/** A repository with a change in it, and what became of the change. */
function history() {
  const folder = join(temporaryFolder(), 'web');
  mkdirSync(folder);
  git(folder, 'init', '-q', '-b', 'main');
  const write = (name: string, text: string, message: string): string => {
    writeFileSync(join(folder, name), text);
    git(folder, 'add', '-A');
    git(folder, 'commit', '-q', '-m', message);
    return git(folder, 'rev-parse', 'HEAD');
  };
  const run = (...args: string[]): string => {
    git(folder, ...args);
    return git(folder, 'rev-parse', 'HEAD');
  };
  const lines = (login: string, last = 'nine') =>
    `one\ntwo\nthree\n${login}four\nfive\nsix\nseven\n${last}\n`;
  const base = write('app', lines(''), 'base');
  const merge = write('app', lines('login\n'), 'login (#1)');
  return { folder, base, merge, write, run, lines };
}

type History = ReturnType<typeof history>;

test.each<[string, (given: History) => string, boolean]>([
  ['a later commit', ({ write }) => write('other', 'x', 'next'), true],
  [
    'another line of the same file',
    ({ write, lines }) => write('app', lines('login\n', 'ten'), 'next'),
    true,
  ],
  ['a revert', ({ run, merge }) => run('revert', '--no-edit', merge), false],
  [
    'a revert without a word, beside another change of the file',
    ({ write, lines }) => write('app', lines('', 'ten'), 'tidy up'),
    false,
  ],
  [
    'a revert that was reverted',
    ({ run, merge }) => {
      run('revert', '--no-edit', merge);
      return run('revert', '--no-edit', 'HEAD');
    },
    true,
  ],
  [
    'a merge that kept the other side',
    ({ run, write, base, merge }) => {
      run('checkout', '-q', '-b', 'ours', base);
      write('beside', 'x', 'beside');
      return run('merge', '-q', '-s', 'ours', '-m', 'discard', merge);
    },
    false,
  ],
  [
    'a revert whose lines were changed since',
    ({ run, write, merge, lines }) => {
      run('revert', '--no-edit', merge);
      return write('app', lines('').replace('three', '3').replace('four', '4'), 'rename');
    },
    false,
  ],
  [
    'a merge whose lines were changed since',
    ({ write, lines }) => write('app', lines('log in\n').replace('three', '3'), 'rename'),
    true,
  ],
  [
    'a removal without a word, whose lines were changed since',
    ({ write, lines }) => {
      write('app', lines(''), 'tidy up');
      return write('app', lines('logout\n'), 'leave');
    },
    false,
  ],
  [
    'a merge of a branch that had the file before, and changed it elsewhere',
    ({ run, write, base, lines }) => {
      write('app', lines('log in\n'), 'rename');
      run('checkout', '-q', '-b', 'topic', base);
      write('app', lines('', 'ten'), 'topic');
      run('checkout', '-q', 'main');
      return run('merge', '-q', '-m', 'topic', 'topic');
    },
    true,
  ],
])('the change of the merge is in %s: git finds out', async (_, later, contains) => {
  const given = history();
  const { prove, appended } = prover(undefined);
  await prove(given.merge, later(given), given.folder);
  expect(appended[0]?.detail).toEqual(
    contains ? { contains, by: 'git' } : { contains, reverted: true, by: 'git' },
  );
});

test('what an agent can write into the clone does not change the answer', async () => {
  const { folder, base, merge } = history();
  mkdirSync(join(folder, '.git/info'), { recursive: true });
  writeFileSync(join(folder, '.git/info/grafts'), `${base} ${merge}\n`);
  git(folder, 'config', 'diff.noprefix', 'true');
  git(folder, 'config', 'diff.context', '0');
  const { prove, appended } = prover(undefined);
  await prove(merge, base, folder);
  expect(appended[0]?.detail).toEqual({ contains: false, reverted: false, by: 'git' });
});

test('lines that moved to another file were not taken out; a copy of one of them is no answer', async () => {
  const { folder, base, write, run, lines } = history();
  run('checkout', '-q', base);
  const added = 'first line\nsecond line\nthird line\n';
  const merge = write('app', lines(added), 'feature');
  write('app', lines(''), 'move');
  const moved = write('other', added, 'move');
  const copied = write('other', 'first line\nthird line\n', 'copy');
  const { prove, appended } = prover(undefined);
  await prove(merge, moved, folder);
  expect(appended.map(({ detail }) => detail)).toEqual([{ contains: true, by: 'git' }]);
  expect(await prove(merge, copied, folder)).toMatchObject({ failed: expect.stringContaining('gh') });
});

test.each<[string, deployed: string[], object]>([
  ['as merged', ['a X c'], { contains: true }],
  ['another line was changed', ['a X d'], { contains: true }],
  ['taken out', ['a b d'], { contains: false, reverted: true }],
  ['changed further', ['a Y c'], { contains: true }],
  ['taken out, and changed since', ['a b c', 'a Y c'], { contains: false, reverted: true }],
  ['taken out, put in again, and changed', ['a b c', 'a X c', 'a Y d'], { contains: true }],
])('the code host finds lines that are %s', async (_, later, expected) => {
  const codehost = await codehostForTest();
  const { cloud } = codehost;
  cloud.addRepo('acme/web');
  const idOf = (number: number): string => number.toString(16).padStart(40, '0');
  for (const [number, text] of ['a b c', 'a X c', ...later].entries()) {
    cloud.addCommit('acme/web', idOf(number), ...(number === 0 ? [] : [idOf(number - 1)]));
    const tree = { app: text.replaceAll(' ', '\n'), ...(number > 1 && { other: String(number) }) };
    cloud.describeCommit('acme/web', idOf(number), { tree });
  }
  const { prove, appended } = prover(codehost);
  await prove(idOf(1), idOf(later.length + 1), null);
  expect(appended.map(({ detail }) => detail)).toEqual([{ ...expected, by: 'codehost' }]);
});

/** Puts the content of another object where this one is stored. */
function overwrite(folder: string, id: string, type: string, content: Buffer): void {
  const path = join(folder, '.git/objects', id.slice(0, 2), id.slice(2));
  chmodSync(path, 0o600);
  writeFileSync(path, deflateSync(Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])));
}

test('objects that an agent has overwritten in the clone are no answer', async () => {
  const { folder, base, write, run, lines } = history();
  mkdirSync(join(folder, 'src'));
  const merge = write('src/app', lines('login\n'), 'login');
  run('checkout', '-q', base);
  mkdirSync(join(folder, 'src'));
  const between = write('src/app', lines(''), 'beside');
  const deployed = write('other', 'x', 'next');
  const content = (type: string, id: string): Buffer =>
    execFileSync('git', ['-C', folder, 'cat-file', type, id], { env: gitEnvironment });
  // The commit before the deployed one comes after the merge now, and the deployed folder has its file.
  const commit = content('commit', between)
    .toString()
    .replace(/^parent .*$/m, `parent ${merge}`);
  overwrite(folder, between, 'commit', Buffer.from(commit));
  const folderOf = (id: string): string => git(folder, 'rev-parse', `${id}:src`);
  const changed = content('tree', folderOf(merge));
  overwrite(folder, folderOf(deployed), 'tree', changed);
  expect(git(folder, 'merge-base', '--is-ancestor', merge, deployed)).toBe('');
  const { prove, appended } = prover(undefined);
  expect(await prove(merge, deployed, folder)).toMatchObject({ failed: expect.stringContaining('gh') });
  expect(appended).toEqual([]);
});

test('the code host finds a revert by its message, and a discarded change by the files', async () => {
  const codehost = await codehostForTest();
  const { cloud } = codehost;
  cloud.addRepo('acme/web');
  const shas = ['0', 'a', 'b', 'c', 'd'].map((letter) => letter.repeat(40));
  const [base = '', merge = '', next = '', reverted = '', discarded = ''] = shas;
  cloud.addCommit('acme/web', base);
  for (const [sha, parent] of [
    [merge, base],
    [next, merge],
    [reverted, next],
    [discarded, merge],
  ] as const)
    cloud.addCommit('acme/web', sha, parent);
  const tree = { app: 'two', other: 'x' };
  cloud.describeCommit('acme/web', base, { tree: { app: 'one', other: 'x' } });
  cloud.describeCommit('acme/web', merge, { tree });
  cloud.describeCommit('acme/web', next, { tree: { ...tree, app: 'three' } });
  const message = `Revert "login"\n\nThis reverts commit ${merge}.`;
  cloud.describeCommit('acme/web', reverted, { tree: { ...tree, app: 'four' }, message });
  cloud.describeCommit('acme/web', discarded, { tree: { app: 'one', other: 'y' } });
  const { prove, appended } = prover(codehost);
  for (const sha of [next, reverted, discarded]) await prove(merge, sha, null);
  expect(appended.map(({ detail }) => detail)).toEqual([
    { contains: true, by: 'codehost' },
    { contains: false, reverted: true, by: 'codehost' },
    { contains: false, reverted: true, by: 'codehost' },
  ]);
});

test.each([
  ['commits', 1_001, 1],
  ['files', 1, 300],
])('the code host says nothing when it lists not all %s in between', async (_, commits, files) => {
  const codehost = await codehostForTest();
  const { cloud } = codehost;
  cloud.addRepo('acme/web');
  const idOf = (number: number): string => number.toString(16).padStart(40, '0');
  cloud.addCommit('acme/web', idOf(0));
  for (let number = 1; number <= commits + 1; number += 1)
    cloud.addCommit('acme/web', idOf(number), idOf(number - 1));
  const tree = (text: string) =>
    Object.fromEntries(Array.from({ length: files }, (_each, index) => [`other${index}`, text]));
  cloud.describeCommit('acme/web', idOf(0), { tree: { app: 'one' } });
  cloud.describeCommit('acme/web', idOf(1), { tree: { app: 'two', ...tree('x') } });
  cloud.describeCommit('acme/web', idOf(commits + 1), { tree: { app: 'two', ...tree('y') } });
  const { prove, appended } = prover(codehost);
  expect(await prove(idOf(1), idOf(commits + 1), null)).toEqual({
    failed: expect.stringContaining('too much was changed since the merge'),
  });
  expect(appended).toEqual([]);
});

test('a proof makes a worker done whose descendant is in production', async () => {
  const { folder, merge, after } = repository();
  const { prove, appended } = prover(undefined);
  await prove(merge, after, folder);
  const state = { state: 'success' as const, at: sampleTime('11:15'), seq: 55, via: 'live' };
  const board = sampleBoard({
    workers: [mergedWorker({ merge: { sha: merge, at: sampleTime('11:00'), seq: 40 } })],
    deployments: [sampleDeployment({ sha: after, states: [state] })],
  });
  for (const draft of appended) foldLine(board, { ...draft, seq: board.seq + 1, ts: sampleTime('11:20') });
  expect(board.workers.get('run-1/ENG-1')).toMatchObject({
    status: 'done',
    deploy: { provenBy: { sha: after } },
  });
});

test.each([
  ['there is no worktree', () => null],
  ['the worktree is gone', () => '/nowhere/at/all'],
  ['the path is not absolute', () => 'web'],
  [
    'the repository lacks the commit',
    () => {
      const folder = temporaryFolder();
      git(folder, 'init', '-q');
      return folder;
    },
  ],
])('%s: the code host is asked', async (_, worktree) => {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  const [merge = '', after = '', beside = ''] = ['a', 'b', 'c'].map((letter) => letter.repeat(40));
  codehost.cloud.addCommit('acme/web', merge);
  codehost.cloud.addCommit('acme/web', after, merge);
  codehost.cloud.addCommit('acme/web', beside);
  const { prove, appended } = prover(codehost);
  const folder = worktree();
  await prove(merge, after, folder);
  await prove(merge, beside, folder);
  await prove(after, merge, folder);
  await prove(merge, merge, folder);
  expect(appended.map(({ detail }) => detail)).toEqual([
    { contains: true, by: 'codehost' },
    { contains: false, reverted: false, by: 'codehost' },
    { contains: false, reverted: false, by: 'codehost' },
    { contains: true, by: 'codehost' },
  ]);
  expect(codehost.calls()[0]).toBe(
    `GET /api/v3/repos/acme/web/compare/${merge}...${after}?per_page=100&page=1`,
  );
});

test('a shallow clone cannot answer no', async () => {
  const { folder, merge, after } = repository();
  const shallow = join(temporaryFolder(), 'shallow');
  git(folder, 'clone', '-q', '--depth', '1', '--branch', 'main', `file://${folder}`, shallow);
  git(shallow, 'fetch', '-q', '--depth', '1', 'origin', merge);
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  codehost.cloud.addCommit('acme/web', merge);
  codehost.cloud.addCommit('acme/web', after, merge);
  const { prove, appended } = prover(codehost);
  await prove(merge, after, shallow);
  expect(appended[0]?.detail).toEqual({ contains: true, by: 'codehost' });
});

test('a code host without the answer fails, to be tried again', async () => {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  const { prove, appended } = prover(codehost);
  const shas = ['a'.repeat(40), 'b'.repeat(40)] as const;
  expect(await prove(...shas, null)).toEqual({
    failed: 'the code host could not find it (HTTP 404: Not Found)',
  });
  codehost.setQuota('core', { remaining: 0 });
  expect(await prove(...shas, null)).toMatchObject({
    failed: expect.stringContaining('quota'),
    retryAfterMs: expect.any(Number),
  });
  expect(appended).toEqual([]);
});

test.each([
  ['--output=/tmp/x', 'b'.repeat(40)],
  ['a'.repeat(40), 'HEAD'],
  ['a'.repeat(40), 'b'.repeat(39)],
  ['a'.repeat(40), `${'b'.repeat(40)}\n`],
])('what is no commit id reaches no program: %j %j', async (mergeSha, sha) => {
  const { prove, commands } = prover(undefined);
  expect(await prove(mergeSha, sha, '/')).toMatchObject({ permanent: true });
  expect(commands).toEqual([]);
});
