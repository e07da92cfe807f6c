// Repositories that appear in signal files are subscribed like watched ones: lazily, and once.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codehostExample, patched, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { covered, type FeedWorld, facts, feedWorld as world } from './feed-world.ts';

function writeSignal({ home }: FeedWorld, ticket: string, repo: object): void {
  const file = join(home, 'svc/runs/run-1/workers', `${ticket}.json`);
  const signal = {
    ticket,
    orchestrator: 'run-1',
    workerName: ticket,
    status: 'implementing',
    phase: 1,
    startedAt: '2026-01-02T03:00:00Z',
    updatedAt: '2026-01-02T03:00:00Z',
    ...repo,
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(join(dirname(file), `.${ticket}`), JSON.stringify(signal));
  renameSync(join(dirname(file), `.${ticket}`), file);
}

const hookCalls = ({ codehost }: FeedWorld, repo: string): string[] =>
  codehost
    .calls()
    .filter((line) => line.toLowerCase().includes(`/repos/${repo}/hooks`) && !/\/\d+/.test(line));

test('a repository in a signal file is subscribed once, lazily, and what happens there becomes an event', async () => {
  const one = await world();
  const { codehost, start } = one;
  codehost.cloud.addRepo('acme/lib');
  codehost.cloud.addRepo('acme/tools');
  const daemon = await start();
  await until(() => covered(daemon));
  expect(hookCalls(one, 'acme/lib')).toEqual([]);

  writeSignal(one, 'ENG-1', { repo: 'acme/lib' });
  const { hooks } = codehost.cloud.repoOf('acme/lib');
  await until(() => hooks.length === 1);
  expect(hooks).toMatchObject([{ config: { url: one.channel, content_type: 'json' } }]);
  const payload = patched(codehostExample('pull_request merged'), 'elsewhere', {
    repository: { full_name: 'acme/lib', name: 'lib' },
  }).payload;
  await codehost.emit('acme/lib', 'pull_request', payload);
  await until(() => facts(daemon).some(({ event }) => event === 'codehost.pr.merged'));

  // Others of the same repository, in any spelling and wherever it is named, cause no more requests.
  writeSignal(one, 'ENG-2', { repo: 'acme/lib' });
  writeSignal(one, 'ENG-3', { repo: 'Acme/Lib' });
  writeSignal(one, 'ENG-4', { pr: { number: 7, url: 'https://code.example/acme/lib/pull/7' } });
  await until(async () => ((await daemon.get('/api/board')).body['workers'] as object[]).length === 4);
  // One of another repository comes after them, and its hook is created and replayed: they have sent all their requests.
  writeSignal(one, 'ENG-5', { repo: 'acme/tools' });
  await until(() => codehost.calls().some((line) => /\/acme\/tools\/hooks\/\d+\/deliveries/.test(line)));
  expect(hookCalls(one, 'acme/lib')).toEqual([
    'GET /api/v3/repos/acme/lib/hooks?per_page=100',
    'POST /api/v3/repos/acme/lib/hooks',
  ]);
  expect(hooks).toHaveLength(1);
});

test('watched repositories are subscribed at startup, in addition to those in existing signal files', async () => {
  const one = await world();
  const { codehost, start } = one;
  codehost.cloud.addRepo('acme/lib');
  writeSignal(one, 'ENG-1', { repo: 'acme/lib' });
  const daemon = await start();
  const names = async () =>
    ((await daemon.get('/api/feeds')).body['repos'] as { repo: string; by: string }[])
      .map(({ repo, by }) => `${repo} ${by}`)
      .toSorted();
  await until(async () => (await names()).length === 2);
  expect(await names()).toEqual(['acme/lib webhook', 'acme/web webhook']);

  // What was sent there while the daemon was down is replayed like that of a watched one.
  await daemon.close();
  await codehost.emit('acme/lib', 'push', {
    ...codehostExample('push branch').payload,
    repository: { full_name: 'acme/lib', name: 'lib' },
  });
  const again = await start();
  await until(() =>
    facts(again).some(({ event, via }) => event.startsWith('codehost.push') && via === 'replay'),
  );
  expect(codehost.cloud.repoOf('acme/lib').hooks).toHaveLength(1);
});

test('a missing repository is reported once and does not keep others from being subscribed', async () => {
  const one = await world();
  const { codehost, start } = one;
  codehost.cloud.addRepo('acme/lib');
  const daemon = await start();
  await until(() => covered(daemon));
  writeSignal(one, 'ENG-1', { repo: 'acme/nowhere' });
  await until(() => daemon.printed().includes('acme/nowhere'));
  writeSignal(one, 'ENG-2', { repo: 'acme/lib' });
  await until(() => codehost.cloud.repoOf('acme/lib').hooks.length === 1);
  expect((await daemon.get('/api/health')).status).toBe(200);
});
