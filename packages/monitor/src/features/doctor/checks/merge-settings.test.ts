// Against the fake of the code host, with its real client.
import { ghEnvironment, startFakeCodehost, temporaryFolder, testTerminal } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { setupFinding } from '../../../kernel/check/finding.ts';
import { checkMergeSettings } from './services.ts';

async function world() {
  const codehost = await startFakeCodehost({ folder: temporaryFolder() });
  onTestFinished(() => codehost.close());
  codehost.addToken('token');
  const repo = codehost.cloud.addRepo('acme/web');
  Object.assign(repo.settings, {
    allow_squash_merge: true,
    allow_auto_merge: true,
    delete_branch_on_merge: true,
  });
  repo.rules.push(
    { type: 'deletion' },
    { type: 'non_fast_forward' },
    {
      type: 'pull_request',
      parameters: { required_approving_review_count: 0, required_review_thread_resolution: true },
    },
    { type: 'required_status_checks', parameters: { required_status_checks: [{ context: 'build' }] } },
  );
  const terminal = { ...testTerminal(), environment: ghEnvironment(codehost, 'token') };
  return { codehost, repo, check: () => checkMergeSettings(terminal, 'acme/web') };
}

test('the settings at the code host are read, never changed', async () => {
  const { codehost, check } = await world();
  expect(await check()).toEqual([
    setupFinding('merge-settings', 'ok', expect.stringContaining('acme/web: autonomous mode')),
  ]);
  expect(codehost.calls().length).toBeGreaterThan(2);
  expect(codehost.calls().filter((line) => !line.startsWith('GET '))).toEqual([]);
});

test('missing settings and rules are warnings with their remedy', async () => {
  const { repo, check } = await world();
  repo.settings['allow_auto_merge'] = false;
  repo.rules.length = 0;
  expect(await check()).toMatchObject([
    {
      grade: 'warning',
      what: 'acme/web: auto-merge is off',
      remedy: 'gh repo edit acme/web --enable-auto-merge',
    },
    { grade: 'warning', what: expect.stringContaining('no active ruleset on refs/heads/main requires') },
  ]);
});

test('a required check that did not run on a closed pull request is a warning', async () => {
  const { codehost, repo, check } = await world();
  const ran = codehost.cloud.addPullRequest('acme/web', { number: 1, state: 'MERGED' });
  codehost.cloud.addPullRequest('acme/web', { number: 2, state: 'OPEN' });
  repo.checkRuns.push({ ...sample, id: 1, sha: ran.headSha, name: 'build' });
  expect(await check()).toMatchObject([{ grade: 'ok' }]);
  codehost.cloud.addPullRequest('acme/web', { number: 3, state: 'MERGED' });
  expect(await check()).toMatchObject([
    {
      grade: 'warning',
      what: 'acme/web: required checks that did not run on all of the newest 2 pull requests: build',
    },
  ]);
});

test('an inaccessible repository is a warning, not an error', async () => {
  const { codehost, check } = await world();
  codehost.cloud.removeRepo('acme/web');
  expect(await check()).toMatchObject([
    { grade: 'warning', what: expect.stringContaining('cannot be read') },
  ]);
});

const sample = {
  conclusion: 'success',
  title: null,
  summary: null,
  steps: [],
  log: null,
  completedAt: Date.parse('2026-01-02T03:04:05Z'),
};
