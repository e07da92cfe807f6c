// Real git and the real client program against the fake code host.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type EventDraft, foldLine, parseEventDraft } from '@svc/core';
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
import { createGh } from '../codehost/gh.ts';
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
    { contains: false, by: 'git' },
    { contains: true, by: 'git' },
  ]);
  expect(appended[0]).toMatchObject({
    event: 'orchestrator.deploy.descendant_checked',
    deliveryId: `descendant:acme/web:${merge}..${after}`,
    scope: { repo: 'acme/web', mergeSha: merge, sha: after },
  });
  expect(appended.map((draft) => parseEventDraft(draft).ok)).toEqual([true, true, true]);
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
    { contains: false, by: 'codehost' },
    { contains: false, by: 'codehost' },
    { contains: true, by: 'codehost' },
  ]);
  expect(codehost.calls()[0]).toBe(`GET /api/v3/repos/acme/web/compare/${merge}...${after}?per_page=1`);
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
