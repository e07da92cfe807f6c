import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { answerWithJson, type RecordedRequest, startRecordingServer, until } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createBackendProbe } from './backends.ts';
import { type BackendProxyOptions, createBackendProxy, type ProxyOutcome } from './proxy.ts';

type Answer = (request: RecordedRequest, response: ServerResponse) => void;

const instant = (query: string) => ({
  path: '/api/v1/query' as const,
  parameters: [['query', query]] as const,
  isRange: false,
});
const range = (query: string) => ({
  path: '/api/v1/query_range' as const,
  parameters: [
    ['query', query],
    ['start', '0'],
    ['end', '60'],
    ['step', '15'],
  ] as const,
  isRange: true,
});
const fine: Answer = (_, response) => answerWithJson(response, 200, { status: 'success' });

async function proxyTo(answer: Answer, given: Partial<BackendProxyOptions> & { prefix?: string } = {}) {
  const server = await startRecordingServer(answer);
  const outcomes: ProxyOutcome[] = [];
  let now = 1_000_000;
  const proxy = createBackendProxy({
    title: 'The metrics backend',
    baseUrl: server.url + (given.prefix ?? ''),
    now: () => now,
    onOutcome: (outcome) => void outcomes.push(outcome),
    ...given,
  });
  onTestFinished(proxy.stop);
  return { server, proxy, outcomes, later: (milliseconds: number) => (now += milliseconds) };
}

test('the backend’s own status and body come back', async () => {
  const { proxy, server } = await proxyTo((_, response) =>
    answerWithJson(response, 422, { status: 'error', errorType: 'execution', error: 'too many samples' }),
  );
  const { status, body } = await proxy.ask(instant('sum(up) by (job)'));
  expect([status, JSON.parse(body.toString())]).toMatchObject([422, { errorType: 'execution' }]);
  expect(server.requests[0]).toMatchObject({
    method: 'GET',
    url: '/api/v1/query?query=sum%28up%29+by+%28job%29',
  });
});

test.each([
  ['', '/api/v1/query?query=up'],
  ['/', '/api/v1/query?query=up'],
  ['/prometheus/', '/prometheus/api/v1/query?query=up'],
  ['/a/../b?x=1#y', '/b/api/v1/query?query=up'],
])('the path is fixed behind the base %j', async (prefix, url) => {
  const { proxy, server } = await proxyTo(fine, { prefix });
  await proxy.ask(instant('up'));
  expect(server.requests.map((request) => request.url)).toEqual([url]);
});

test('a user name and password in the base become a header, and are not shown', async () => {
  const server = await startRecordingServer((_, response) => response.writeHead(500).end('no'));
  const baseUrl = server.url.replace('://', '://kim:s3cret%21@');
  const proxy = createBackendProxy({ title: 'The metrics backend', baseUrl, now: () => 0 });
  await expect(proxy.ask(instant('up'))).rejects.toThrow(/^(?!.*s3cret).*answers 500/s);
  expect(server.requests[0]?.headers.authorization).toBe(`Basic ${btoa('kim:s3cret!')}`);
  const probe = createBackendProbe({
    name: 'metrics',
    choice: { use: true, url: baseUrl },
    proxy: () => proxy,
    now: () => new Date(0),
  });
  await probe.check();
  expect(JSON.stringify(probe.state())).not.toContain('s3cret');
});

test('a long query is sent in a body', async () => {
  const { proxy, server } = await proxyTo(fine);
  const query = `up{a="${'é'.repeat(4_000)}"}`;
  await proxy.ask(instant(query));
  expect(server.requests[0]).toMatchObject({ method: 'POST', url: '/api/v1/query' });
  expect(new URLSearchParams(server.requests[0]?.body).get('query')).toBe(query);
});

test.each([301, 302, 303, 307, 308])('a redirect (%i) is not followed', async (status) => {
  const canary = await startRecordingServer(fine);
  const { proxy } = await proxyTo((_, response) =>
    response.writeHead(status, { Location: `${canary.url}/api/v1/query` }).end(),
  );
  await expect(proxy.ask(instant('up'))).rejects.toMatchObject({ code: 'backend-failed', status: 502 });
  expect(canary.requests).toEqual([]);
});

test('whatever a query contains, only the base is called, on its path', async () => {
  const canary = await startRecordingServer(fine);
  const { proxy, server } = await proxyTo(fine, { prefix: '/base' });
  const host = canary.url.slice('http://'.length);
  const queries = [
    canary.url,
    `@${host}`,
    `//${host}/`,
    `up HTTP/1.1\r\nHost: ${host}\r\n\r\nGET / HTTP/1.1`,
    `up&url=${canary.url}#`,
    '/../../../admin',
    '..%2f..%2fadmin',
    '\u0000',
    '?query=1#',
  ];
  for (const query of queries) await proxy.ask(instant(query));
  expect(canary.requests).toEqual([]);
  expect(server.requests).toHaveLength(queries.length);
  for (const [index, { url, headers }] of server.requests.entries()) {
    const asked = new URL(url, server.url);
    expect([asked.pathname, [...asked.searchParams.keys()]]).toEqual(['/base/api/v1/query', ['query']]);
    expect(asked.searchParams.get('query')).toBe(queries[index]);
    expect(headers.host).toBe(server.url.slice('http://'.length));
  }
});

test.each([
  ['not JSON', 200, 'text/html', '<html>login</html>', 'backend-failed', 'not JSON'],
  ['its own error', 500, 'text/plain', 'out of\r\nmemory', 'backend-failed', 'answers 500: out of memory'],
  ['another server', 404, 'text/plain', '404 page not found', 'backend-failed', 'answers 404'],
  [
    'not for us',
    401,
    'application/json',
    '{"error":"who are you"}',
    'backend-failed',
    'rejects the request with 401',
  ],
  ['too slow further on', 504, 'text/plain', 'upstream', 'backend-slow', 'too slow'],
])('a backend that fails: %s', async (_, status, type, body, code, words) => {
  const { proxy } = await proxyTo((_request, response) =>
    response.writeHead(status, { 'Content-Type': type }).end(body),
  );
  await expect(proxy.ask(instant('up'))).rejects.toMatchObject({
    code,
    message: expect.stringContaining(words),
    remedy: expect.any(String),
  });
});

test('a refusal in plain words becomes JSON with the same status', async () => {
  const { proxy } = await proxyTo((_, response) =>
    response.writeHead(400, { 'Content-Type': 'text/plain' }).end('parse error at line 1'),
  );
  const { status, body } = await proxy.ask(instant('{'));
  expect([status, JSON.parse(body.toString())]).toEqual([
    400,
    { error: 'parse error at line 1', code: 'backend-refused' },
  ]);
});

test('nothing listens', async () => {
  const { proxy, server } = await proxyTo(fine);
  await server.close();
  await expect(proxy.ask(instant('up'))).rejects.toMatchObject({
    code: 'backend-failed',
    message: 'The metrics backend cannot be reached: ECONNREFUSED.',
  });
});

test.each([
  ['sends nothing', () => undefined],
  [
    'stops in the middle of its answer',
    (_: unknown, response: ServerResponse) =>
      void response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"a":'),
  ],
])('a backend that %s is too slow', async (_, answer) => {
  const { proxy, outcomes } = await proxyTo(answer, { timeoutMs: 20 });
  await expect(proxy.ask(instant('up'))).rejects.toMatchObject({ code: 'backend-slow', status: 504 });
  expect(outcomes).toEqual(['slow']);
});

test('the size of an answer is limited, also uncompressed', async () => {
  const large = JSON.stringify({ data: 'x'.repeat(300_000) });
  const { proxy } = await proxyTo(
    ({ url }, response) => {
      const zipped = url.includes('zipped');
      response.writeHead(200, {
        'Content-Type': 'application/json',
        ...(zipped && { 'Content-Encoding': 'gzip' }),
      });
      response.end(zipped ? gzipSync(large) : large);
    },
    { maxBytes: 200_000 },
  );
  for (const query of ['plain', 'zipped'])
    await expect(proxy.ask(instant(query))).rejects.toThrow('more than 200000 bytes');
});

test('a hundred identical queries at once are one call', async () => {
  const open: ServerResponse[] = [];
  const { proxy, server } = await proxyTo((_, response) => void open.push(response));
  const asked = Array.from({ length: 100 }, () => proxy.ask(instant('up')));
  answerWithJson(await until(() => open[0]), 200, { status: 'success' });
  await expect(Promise.all(asked)).resolves.toHaveLength(100);
  expect(server.requests).toHaveLength(1);
  const again = proxy.ask(instant('up'));
  answerWithJson(await until(() => open[1]), 200, { status: 'success' });
  await again;
  expect(server.requests).toHaveLength(2);
});

test('the answer to an identical range is cached for 15 seconds, and a failure never', async () => {
  let status = 200;
  const { proxy, server, outcomes, later } = await proxyTo((_, response) =>
    answerWithJson(response, status, { status: 'success' }),
  );
  await proxy.ask(range('up'));
  later(14_999);
  await proxy.ask(range('up'));
  expect(server.requests).toHaveLength(1);
  await proxy.ask(range('down'));
  expect(server.requests).toHaveLength(2);
  later(1);
  status = 422;
  await proxy.ask(range('up'));
  await proxy.ask(range('up'));
  expect(server.requests).toHaveLength(4);
  expect(outcomes).toEqual(['answered', 'cached', 'answered', 'answered', 'answered']);
});

test('the cache is bounded', async () => {
  const { proxy, server } = await proxyTo(fine);
  for (let number = 0; number < 201; number += 1) await proxy.ask(range(`up${number}`));
  await proxy.ask(range('up200'));
  expect(server.requests).toHaveLength(201);
  await proxy.ask(range('up0'));
  expect(server.requests).toHaveLength(202);
});

test('limits how many run at once and how many wait', async () => {
  const open: (() => void)[] = [];
  const { proxy, server, outcomes } = await proxyTo(
    (_, response) => void open.push(() => answerWithJson(response, 200, {})),
    { atOnce: 2, mostWaiting: 3 },
  );
  const asked = Array.from({ length: 5 }, (_, number) => proxy.ask(instant(`up${number}`)));
  await expect(proxy.ask(instant('one more'))).rejects.toMatchObject({ code: 'busy', status: 503 });
  await expect.poll(() => open.length).toBe(2);
  for (let answered = 0; answered < 5; answered += 1) {
    await expect.poll(() => open.length).toBeGreaterThan(answered);
    expect(server.requests.length - answered).toBeLessThanOrEqual(2);
    open[answered]?.();
  }
  await Promise.all(asked);
  expect(outcomes).toEqual(['busy', ...Array.from({ length: 5 }, () => 'answered')]);
});

test('a waiting caller is answered in time, and frees its slot', async () => {
  const times: AbortController[] = [];
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    const time = new AbortController();
    times.push(time);
    return time.signal;
  });
  onTestFinished(() => timeout.mockRestore());
  const isUp = (index: number) => times[index]?.abort(new DOMException('The time is up', 'TimeoutError'));
  let isSilent = true;
  const { proxy, server, outcomes } = await proxyTo(
    (_, response) => (isSilent ? undefined : answerWithJson(response, 200, {})),
    { atOnce: 1 },
  );
  const [inside, ...inLine] = ['a', 'b', 'c'].map((query) => proxy.ask(instant(query)));
  await until(() => server.requests.length === 1);
  isUp(1);
  isUp(2);
  const ended = Promise.allSettled([...inLine, inside]);
  await expect.poll(() => outcomes).toEqual(['slow', 'slow']);
  isUp(0);
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(server.requests).toHaveLength(1);
  isSilent = false;
  expect((await proxy.ask(instant('d'))).status).toBe(200);
});

test('a backend that starts later is found, and one that stops is noticed', async () => {
  const first = await startRecordingServer(fine);
  await first.close();
  const times = ['00', '01', '02', '03'].map((second) => new Date(`2026-01-02T03:04:${second}Z`));
  let round = 0;
  const choice = { use: true, url: `${first.url}/m` } as const;
  const now = (): Date => times[round] ?? new Date(0);
  const probe = createBackendProbe({ name: 'metrics', choice, proxy: () => proxy, now });
  const proxy = createBackendProxy({
    title: 'The metrics backend',
    baseUrl: choice.url,
    now: () => 0,
    onOutcome: probe.note,
  });
  expect(probe.state()).toMatchObject({ state: 'connecting', url: choice.url });
  await probe.check();
  expect(probe.state()).toMatchObject({
    state: 'degraded',
    why: 'The metrics backend cannot be reached: ECONNREFUSED.',
    since: times[0]?.toISOString(),
    remedy: expect.stringContaining('every 30 s'),
    lastAnswerAt: null,
  });
  round = 1;
  const again = await startRecordingServer(fine, first.port);
  await probe.check();
  expect(probe.state()).toMatchObject({ state: 'live', why: null, since: times[1]?.toISOString() });
  expect(again.requests[0]?.url).toBe('/m/api/v1/query?query=vector(1)');
  round = 2;
  await again.close();
  await expect(proxy.ask(instant('up'))).rejects.toThrow('cannot be reached');
  expect(probe.state()).toMatchObject({ state: 'degraded', lastAnswerAt: times[1]?.toISOString() });
});

test('a disabled backend has its reason', async () => {
  const choice = { use: false, why: 'otel.enabled is false', remedy: 'Switch it on.' } as const;
  const probe = createBackendProbe({ name: 'logs', choice, proxy: () => undefined, now: () => new Date(0) });
  await probe.check();
  expect(probe.state()).toMatchObject({ state: 'disabled', why: choice.why, remedy: choice.remedy });
});
