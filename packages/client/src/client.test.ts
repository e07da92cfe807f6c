import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { WAIT_MS } from '../../testkit/src/waiting.ts';
import { createClient } from './client.ts';
import { ApiFailure } from './failure.ts';
import type { Board, Why } from './index.ts';

type Seen = { method: string; url: string; type: string | undefined; body: string };

/** A daemon with the test's responses. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void take(request).then((one) => seen.push(one) && answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen, server };
}

async function take(request: IncomingMessage): Promise<Seen> {
  const { method = '', url = '', headers } = request;
  return { method, url, type: headers['content-type'], body: await text(request) };
}

const sayJson =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
    response.end(JSON.stringify(body));
  };

const failureOf = async (call: Promise<unknown>): Promise<ApiFailure> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiFailure);
  return error as ApiFailure;
};

describe('a call', () => {
  test('puts parameters into the path, adds the query, and leaves out undefined values', async () => {
    const { url, seen } = await serve(sayJson(200, { lines: [] }));
    const client = createClient(`${url}/`);
    await client.get('/api/workers/{ticket}/output', {
      params: { ticket: '../a b' },
      query: { limit: 5, after: '7', orchestrator: undefined },
    });
    await client.get('/api/board');
    expect(seen.map((one) => one.url)).toEqual([
      '/api/workers/..%2Fa%20b/output?limit=5&after=7',
      '/api/board',
    ]);
  });

  test('sends the body as JSON, or an empty object without one', async () => {
    const { url, seen } = await serve(sayJson(200, { ok: true, item: null }));
    const client = createClient(url);
    expect(await client.post('/api/attention/resolve', { body: { id: 'a/b/c' } })).toEqual({
      ok: true,
      item: null,
    });
    await client.post('/api/briefing');
    expect(seen).toEqual([
      { method: 'POST', url: '/api/attention/resolve', type: 'application/json', body: '{"id":"a/b/c"}' },
      { method: 'POST', url: '/api/briefing', type: 'application/json', body: '{}' },
    ]);
  });

  test('returns text for a text response', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4' });
      response.end('svc_workers 1\n');
    });
    expect(await createClient(url).get('/metrics')).toBe('svc_workers 1\n');
  });
});

describe('a failure', () => {
  test('has the message, code, fix and retry time from the daemon', async () => {
    const body = { error: 'Too many.', code: 'too-many-requests', remedy: 'Wait.' };
    const { url } = await serve(sayJson(429, body, { 'Retry-After': '3' }));
    const failure = await failureOf(createClient(url).post('/api/summarize', { body: { orchId: 'run-1' } }));
    expect(failure).toMatchObject({
      status: 429,
      code: 'too-many-requests',
      message: 'Too many.',
      remedy: 'Wait.',
      retryAfter: 3,
    });
  });

  test.each([
    ['no code', { error: 'AI not configured' }, 'AI not configured'],
    ['something else', ['no'], 'The daemon answered 503.'],
  ])('with %s has a code from its status', async (_, body, message) => {
    const { url } = await serve(sayJson(503, body, { 'Retry-After': 'soon' }));
    const failure = await failureOf(createClient(url).get('/api/health'));
    expect(failure).toMatchObject({ status: 503, code: 'http-503', message, retryAfter: undefined });
    expect(failure.remedy).toBeUndefined();
  });

  test('a response that is not JSON did not come from the daemon', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(502).end('<html>');
    });
    expect(await failureOf(createClient(url).get('/api/health'))).toMatchObject({ code: 'http-502' });
  });

  test('no daemon', async () => {
    const { url, server } = await serve(sayJson(200, {}));
    await new Promise((resolve) => server.close(resolve));
    expect(await failureOf(createClient(url).get('/api/health'))).toMatchObject({
      status: 0,
      code: 'no-answer',
    });
  });

  test('a response that takes too long', async () => {
    const { url } = await serve(() => undefined);
    const failure = await failureOf(createClient(url, { timeoutMs: 50 }).get('/api/health'));
    expect(failure).toMatchObject({ status: 0, code: 'no-answer', cause: { name: 'TimeoutError' } });
  });

  test("the caller's own signal is not a failure of the daemon", async () => {
    const { url } = await serve(() => undefined);
    const signal = AbortSignal.timeout(50);
    const call = createClient(url, { timeoutMs: WAIT_MS }).get('/api/health', { signal });
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

test('calls and responses are typed', () => {
  const client = createClient('http://127.0.0.1:1', {
    fetch: () => Promise.reject(new TypeError('no call is made')),
  });
  const params = { ticket: 'ABC-1' };
  const calls = {
    board: () => client.get('/api/board', { query: { all: '1' } }),
    why: () => client.get('/api/workers/{ticket}/why', { params }),
    // @ts-expect-error the ticket is missing
    noTicket: () => client.get('/api/workers/{ticket}/why'),
    // @ts-expect-error there is no such query
    noQuery: () => client.get('/api/board', { query: { when: '2h' } }),
    // @ts-expect-error there is no such route
    noRoute: () => client.get('/api/boards'),
    // @ts-expect-error a body is needed
    noBody: () => client.post('/api/attention/ack'),
    // @ts-expect-error there is no such action
    noAction: () => client.post('/api/workers/{ticket}/deploy', { params, body: { action: 'stop' } }),
    // @ts-expect-error a stream has no answer
    noStream: () => client.get('/api/events/stream'),
    // @ts-expect-error deliveries are signed by their sender
    noDelivery: () => client.post('/api/webhook'),
  };
  expectTypeOf(calls.board).returns.resolves.toEqualTypeOf<Board>();
  expectTypeOf(calls.why).returns.resolves.toEqualTypeOf<Why>();
  expect(Object.keys(calls)).toHaveLength(9);
});
