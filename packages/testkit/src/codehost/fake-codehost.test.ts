// Checks the fake with the real client program and against the vendor's documentation.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { codehostForTest, type FakeCodehost, runGh } from './fake-codehost.ts';

const gh = (codehost: FakeCodehost, args: string[], options?: { input?: string; token?: string }) =>
  runGh(codehost, ['api', ...args], options);

type Received = { headers: NodeJS.Dict<string | string[]>; body: string };

async function listener(): Promise<{ url: string; received: Received[]; close: () => void }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const take = async (): Promise<void> => {
      received.push({ headers: request.headers, body: await text(request) });
      response.end('ok');
    };
    void take();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/channel`, received, close };
}

test('lists hooks in pages and never shows a secret', async () => {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  for (let n = 1; n <= 130; n += 1)
    codehost.cloud.addHook('acme/web', { config: { url: `https://x.example/${n}`, secret: 'hidden' } });
  const { code, stdout } = await gh(codehost, ['repos/Acme/WEB/hooks', '--paginate', '--jq', '.[].config']);
  expect(code).toBe(0);
  expect(stdout.trim().split('\n')).toHaveLength(130);
  expect(stdout).toContain('"secret":"********"');
  expect(stdout).not.toContain('hidden');
  expect(codehost.calls()).toEqual([
    'GET /api/v3/repos/Acme/WEB/hooks?per_page=100',
    'GET /api/v3/repos/Acme/WEB/hooks?per_page=100&page=2',
  ]);
});

test('a new hook is pinged, and an event reaches it signed, listed and in full', async () => {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  const relay = await listener();
  const body = {
    name: 'web',
    events: ['push'],
    config: { url: relay.url, content_type: 'json', secret: 's3cret' },
  };
  const made = await gh(codehost, ['repos/acme/web/hooks', '--input', '-'], { input: JSON.stringify(body) });
  const hook = JSON.parse(made.stdout) as { id: number };
  const { guid } = await codehost.emit('acme/web', 'push', { ref: 'refs/heads/main' });
  await codehost.emit('acme/web', 'status', { nobody: 'wants it' });

  expect(relay.received.map(({ headers }) => headers['x-github-event'])).toEqual(['ping', 'push']);
  expect(relay.received[1]?.headers).toMatchObject({
    'x-github-delivery': guid,
    'x-hub-signature-256': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
  });
  const path = `repos/acme/web/hooks/${hook.id}/deliveries`;
  const listed = await gh(codehost, [
    path,
    '--jq',
    '.[] | [.guid, .event, .status_code, .redelivery] | @json',
  ]);
  expect(listed.stdout).toContain(`["${guid}","push",200,false]`);
  // The id has more digits than a JavaScript number can hold.
  const [id = ''] = /"id":(\d+)/.exec((await gh(codehost, [path])).stdout)?.slice(1) ?? [];
  expect(Number.isSafeInteger(Number(id))).toBe(false);
  const full = await gh(codehost, [`${path}/${id}`, '--jq', '.request.payload.ref']);
  expect(full.stdout.trim()).toBe('refs/heads/main');

  expect((await gh(codehost, ['-X', 'POST', `${path}/${id}/attempts`])).code).toBe(0);
  expect(relay.received.map(({ headers }) => headers['x-github-delivery']).slice(1)).toEqual([guid, guid]);
});

test('pages of deliveries follow the cursor, newest first', async () => {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  const { id } = codehost.cloud.addHook('acme/web', { events: ['push'], config: { url: 'http://x' } });
  for (let n = 1; n <= 5; n += 1)
    await codehost.emit('acme/web', 'push', { n }, { unheard: true, guid: `g${n}` });
  const { stdout } = await gh(codehost, [
    `repos/acme/web/hooks/${id}/deliveries?per_page=2`,
    '--paginate',
    '--jq',
    '.[].guid',
  ]);
  expect(stdout.trim().split('\n')).toEqual(['g5', 'g4', 'g3', 'g2', 'g1']);
});

test('a replaced config loses a secret that is not sent again; a partial change keeps it', async () => {
  const codehost = await codehostForTest();
  const repo = codehost.cloud.addRepo('acme/web');
  const { id } = codehost.cloud.addHook('acme/web', { config: { url: 'https://a.example', secret: 'kept' } });
  const change = (path: string, body: object) =>
    gh(codehost, ['-X', 'PATCH', `repos/acme/web/hooks/${id}${path}`, '--input', '-'], {
      input: JSON.stringify(body),
    });
  await change('/config', { content_type: 'json' });
  expect(repo.hooks[0]?.config).toMatchObject({
    url: 'https://a.example',
    content_type: 'json',
    secret: 'kept',
  });
  await change('', { config: { url: 'https://b.example' } });
  expect(repo.hooks[0]?.config).toEqual({
    url: 'https://b.example',
    content_type: 'form',
    insecure_ssl: '0',
  });
});

test.each([
  ['a wrong token', 'wrong', 'Bad credentials (HTTP 401)'],
  ['no scope for hooks', 'gho_noscope', 'admin:repo_hook'],
])('%s is rejected', async (_name, token, words) => {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  codehost.addToken('gho_noscope', ['gist']);
  const { code, stderr } = await gh(codehost, ['repos/acme/web/hooks'], { token });
  expect(code).toBe(1);
  expect(stderr).toContain(words);
});

test('the vendor’s limits apply: a hook once, and a limited number for each event', async () => {
  const codehost = await codehostForTest({ hooksPerEvent: 1 });
  codehost.cloud.addRepo('acme/web');
  codehost.cloud.addHook('acme/web', {
    events: ['push'],
    config: { url: 'https://a.example', content_type: 'json' },
  });
  const create = async (url: string) => {
    const input = JSON.stringify({ config: { url, content_type: 'json' }, events: ['push'] });
    return (await gh(codehost, ['repos/acme/web/hooks', '--input', '-'], { input })).stdout;
  };
  expect(await create('https://a.example')).toContain('Hook already exists on this repository');
  expect(await create('https://b.example')).toContain('cannot have more than 1 hooks');
});

test('GraphQL gives partial answers, and rejects what the schema does not have', async () => {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  codehost.cloud.addPullRequest('acme/web', { number: 7, checks: 'SUCCESS' });
  const ask = (query: string) =>
    gh(codehost, ['graphql', '--input', '-'], { input: JSON.stringify({ query }) });
  const part = await ask(`{
    a: repository(owner: "acme", name: "web") { pullRequest(number: 7) { state statusCheckRollup { state } } }
    b: repository(owner: "acme", name: "gone") { id }
  }`);
  expect(part.code).toBe(1);
  expect(JSON.parse(part.stdout)).toMatchObject({
    data: { a: { pullRequest: { state: 'OPEN', statusCheckRollup: { state: 'SUCCESS' } } }, b: null },
    errors: [{ type: 'NOT_FOUND', path: ['b'] }],
  });
  const wrong = await ask('{ repository(owner: "acme", name: "web") { pulls } }');
  expect(wrong.stdout).toContain('Cannot query field');
});

test('every answer has the quota; without quota a call is rejected', async () => {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  codehost.setQuota('core', { remaining: 1 });
  const first = await gh(codehost, ['--include', 'repos/acme/web']);
  expect(first.stdout).toMatch(/X-Ratelimit-Remaining: 0/);
  expect(first.stdout).toMatch(/X-Oauth-Scopes: admin:repo_hook, repo/);
  const second = await gh(codehost, ['repos/acme/web']);
  expect(second.stderr).toContain('API rate limit exceeded');
  const quota = await gh(codehost, ['rate_limit', '--jq', '.resources.core.remaining']);
  expect(quota.stdout.trim()).toBe('0');
});

test('a renamed repository is found by reads, not by changes', async () => {
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/old');
  codehost.cloud.renameRepo('acme/old', 'new');
  expect((await gh(codehost, ['repos/acme/old/hooks'])).code).toBe(0);
  const { stdout } = await gh(codehost, ['-i', 'repos/acme/old/hooks', '--input', '-'], { input: '{}' });
  expect(stdout).toContain('307');
});
