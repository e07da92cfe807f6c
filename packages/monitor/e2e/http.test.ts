// What holds for every route: who may call, common headers, health and metrics.
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer, request, Server } from 'node:http';
import { connect, type ListenOptions, Server as NetServer } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { systemErrorCode } from '@svc/lib/errors';
import { codehostExample, temporaryFolder, until, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startInProcess } from './in-process-daemon.ts';
import { registeredRoutes } from './registered-routes.ts';

function call(url: string, path: string, options: { method?: string; headers?: Record<string, string> }) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = request(url + path, options, (response) => {
      let body = '';
      response
        .on('data', (part) => (body += part))
        .on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on('error', reject).end();
  });
}

test('it listens on loopback only', async () => {
  const { url } = await startInProcess();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await call(url, '/api/health', {})).status).toBe(200);
  // A server that listens on every address answers here too.
  const headers = { Host: 'localhost' };
  await expect(call(url.replace('127.0.0.1', '127.0.0.2'), '/api/health', { headers })).rejects.toThrow(
    /ECONNREFUSED|EADDRNOTAVAIL/,
  );
});

test('without SVC_MONITOR_PORT it listens on port 7400 of this machine', async () => {
  // The port itself may be taken by a daemon of this machine: it is recorded, and another one is used.
  const asked: unknown[] = [];
  const listen = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...words) {
    const [options, done] = words as [ListenOptions, () => void];
    asked.push(options);
    return NetServer.prototype.listen.call(this, { ...options, port: 0 }, done) as Server;
  });
  onTestFinished(() => listen.mockRestore());
  const { url } = await startInProcess({ environment: { SVC_MONITOR_PORT: '' } });
  expect(asked[0]).toMatchObject({ host: '127.0.0.1', port: 7400 });
  expect((await call(url, '/api/health', {})).status).toBe(200);
});

test.each([
  ['a foreign name', { Host: 'evil.example' }, 403],
  ['a name that begins like ours', { Host: 'localhost.evil.example:7400' }, 403],
  ['localhost', { Host: 'localhost:7400' }, 200],
  ['IPv6 loopback', { Host: '[::1]:7400' }, 200],
])('Host: %s', async (_, headers, status) => {
  const { url } = await startInProcess();
  expect((await call(url, '/api/health', { headers })).status).toBe(status);
});

test('a state-changing request from another origin is refused, on every route', async () => {
  const { url } = await startInProcess({ environment: { SVC_WEBHOOK_SECRET: 'x'.repeat(64) } });
  const receivers = ['/api/webhook', '/api/webhook/tracker', '/api/webhook/linear'];
  const routes = [...(await registeredRoutes()), ...receivers.map((path) => ({ method: 'POST', url: path }))];
  const changing = routes.filter(({ method }) => method !== 'GET');
  expect(changing.length).toBeGreaterThan(15);
  for (const { method, url: route } of changing) {
    const path = route.replaceAll(/:\w+/g, 'nobody');
    const { status, body } = await call(url, path, { method, headers: { Origin: 'http://evil.example' } });
    expect(status, `${method} ${route}`).toBe(403);
    expect(JSON.parse(body).code).toBe('foreign-origin');
  }
  const own = await call(url, '/api/webhook', { method: 'POST', headers: { Origin: url } });
  expect(own.status).toBe(401);
});

test('every response has the security headers, and errors have one shape', async () => {
  const daemon = await startInProcess();
  for (const { headers } of [await daemon.get('/api/health'), await daemon.get('/api/nowhere')]) {
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  }
  expect((await daemon.get('/api/nowhere?x=1')).body).toEqual({
    error: 'No such route: GET /api/nowhere.',
    code: 'no-such-route',
  });
  const broken = await daemon.post('/api/events', '{"event":', { 'Content-Type': 'application/json' });
  expect(broken.status).toBe(400);
  expect(Object.keys(broken.body)).toEqual(['error', 'code']);
});

test.each([
  ['a path that cannot be decoded', '/api/%', 400],
  ['a parameter that cannot be decoded', '/api/workers/%ff/why', 400],
  ['a parameter that is too long', `/api/workers/${'x'.repeat(300)}/why`, 414],
])('errors of the framework have the same shape: %s', async (_, path, status) => {
  const { url } = await startInProcess();
  const answer = await call(url, path, {});
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String), code: 'bad-request' });
});

test.each([
  ['not HTTP', 'hello\r\n\r\n', '400 Bad Request'],
  [
    'headers that are too large',
    `GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
    '431 Request Header Fields Too Large',
  ],
])('on the bare connection too, on both addresses: %s', async (_, bytes, status) => {
  const { port } = await startInProcess();
  for (const host of ['127.0.0.1', '::1']) {
    const socket = connect({ host, port });
    socket.on('connect', () => socket.write(bytes));
    // A machine without IPv6 has no ::1.
    const text = await readAll(socket).catch((error: unknown) => systemErrorCode(error));
    if (host === '::1' && (text === 'EADDRNOTAVAIL' || text === 'EAFNOSUPPORT')) continue;
    const [head = '', body = ''] = (text ?? '').split('\r\n\r\n');
    expect(head).toContain(`HTTP/1.1 ${status}\r\n`);
    expect(JSON.parse(body)).toEqual({ error: expect.any(String), code: 'bad-request' });
  }
});

test('a page of another site cannot use the API; the dashboard can be linked to', async () => {
  const daemon = await startInProcess();
  const from = (site: string) => ({ headers: { 'Sec-Fetch-Site': site } });
  for (const path of ['/api/health', '/api/events/stream', '/%61pi/health', '/metrics', '/openapi.json']) {
    for (const site of ['cross-site', 'same-site']) {
      const { status, body } = await call(daemon.url, path, from(site));
      expect(status, path).toBe(403);
      expect(JSON.parse(body).code).toBe('foreign-site');
    }
  }
  for (const site of ['same-origin', 'none'])
    expect((await call(daemon.url, '/api/health', from(site))).status).toBe(200);
  expect((await call(daemon.url, '/', from('cross-site'))).status).not.toBe(403);
});

test('the name of the caller has at most 100 characters, as described, at every route', async () => {
  const { post } = await startInProcess();
  const routes: [string, object][] = [
    ['/api/runs', { project: '/nowhere', tickets: ['ABC-1'] }],
    ['/api/workers/ABC-1/deploy', { action: 'retry' }],
    ['/api/attention/ack', { id: 'x' }],
    ['/api/doctor', {}],
  ];
  for (const [path, body] of routes) {
    const postAs = async (by: string) =>
      post(path, JSON.stringify({ ...body, by }), { 'Content-Type': 'application/json' });
    expect(await postAs('x'.repeat(101)), path).toMatchObject({
      status: 400,
      body: { error: 'by: expected a text of at most 100 characters.' },
    });
    expect((await postAs('x'.repeat(100))).body['error'] ?? '', path).not.toContain('by:');
  }
});

test('health lists what is disabled with the fix, and counts deliveries', async () => {
  const daemon = await startInProcess({ environment: { SVC_WEBHOOK_SECRET: 'x'.repeat(64) } });
  await daemon.post('/api/webhook', '{}');
  const { body } = await daemon.get('/api/health');
  expect(body).toMatchObject({
    status: 'ok',
    pid: process.pid,
    port: daemon.port,
    url: daemon.url,
    version: '1.2.3',
    feeds: {
      codehost: { receiver: 'ready', lastAcceptedAt: null, outcomes: { 'bad-signature': 1 } },
      tracker: { receiver: 'disabled', why: 'no secret: SVC_TRACKER_WEBHOOK_SECRET not set' },
    },
    log: { state: 'live', queued: 0, indexLag: 0 },
  });
});

test('metrics are in Prometheus format', async () => {
  const daemon = await startInProcess({ environment: { SVC_WEBHOOK_SECRET: 'x'.repeat(64) } });
  await daemon.post('/api/webhook', '{}');
  const text = await (await fetch(`${daemon.url}/metrics`)).text();
  expect(text).toContain('svc_http_requests_total{route="/api/webhook",method="POST",status="401"} 1');
  expect(text).toContain('svc_deliveries_total{feed="codehost",outcome="bad-signature"} 1');
  for (const name of ['svc_log_commit_seconds_count', 'svc_log_queue_depth', 'svc_log_index_lag_lines']) {
    expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
  }
});

test('a broken project configuration is reported in health, and the daemon runs', async () => {
  const home = temporaryFolder();
  mkdirSync(`${home}/.svc`);
  writeFileSync(`${home}/.svc/config.json`, '{"svc": {"orchestration": {"maxParallel": "x"}}}');
  const { body } = await (await startInProcess({ home })).get('/api/health');
  expect(body['status']).toBe('degraded');
  expect(JSON.stringify(body['configuration'])).toContain(
    'svc.orchestration.maxParallel: expected a whole number',
  );
});

test('a taken port is an error, not a second choice; what was opened before is closed', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  const port = typeof address === 'object' && address ? String(address.port) : '';

  const home = temporaryFolder();
  const openFiles = (): string[] =>
    existsSync('/proc/self/fd')
      ? readdirSync('/proc/self/fd').flatMap((fd) => {
          const link = `/proc/self/fd/${fd}`;
          return existsSync(link) ? readlinkSync(link) : [];
        })
      : [];
  const environment = { SVC_MONITOR_PORT: port };
  await expect(startInProcess({ home, environment })).rejects.toThrow('EADDRINUSE');
  other.close();
  expect(openFiles().filter((path) => path.startsWith(home))).toEqual([]);
  // The log is free: a daemon can have it now.
  const daemon = await startInProcess({ home });
  expect((await daemon.get('/api/health')).body['log']).toMatchObject({ state: 'live' });
});

test('request bodies together have a limit: beyond it a request gets 503, and the memory is freed again', async () => {
  const daemon = await startInProcess();
  const post = () =>
    daemon.post('/api/events', `{"event":"${'x'.repeat(900_000)}"}`, {
      'Content-Type': 'application/json',
    });
  expect((await post()).status).toBe(400);
  const hold = () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(daemon.url).port) });
    socket.on('error', () => undefined);
    // Only what is read can end: a request that the daemon gave up on has an answer.
    socket.resume();
    const head = `POST /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`;
    socket.write(head + 'x'.repeat(999_999));
    return socket;
  };
  const sockets = Array.from({ length: 40 }, hold);
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  await until(async () => {
    // On a slow machine the daemon may give up on some before the others have arrived.
    for (const [index, socket] of sockets.entries()) if (socket.destroyed) sockets[index] = hold();
    return (await post()).status === 503;
  });
  expect((await daemon.get('/api/health')).status).toBe(200);
  sockets.forEach((socket) => socket.destroy());
  await until(async () => (await post()).status === 400);
});

test('pipelined requests start one after the other; those still waiting when the client leaves never start', async () => {
  const daemon = await startInProcess();
  const fact = (ticket: string) => {
    const body = JSON.stringify({
      event: 'orchestrator.worker.status_changed',
      scope: { ticket },
      detail: { to: 'researching' },
    });
    return `POST /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
  const open = (bytes: string) => {
    const socket = connect({ host: '127.0.0.1', port: daemon.port });
    let text = '';
    socket.on('data', (part) => (text += String(part))).on('error', () => undefined);
    socket.write(bytes);
    onTestFinished(() => void socket.destroy());
    return { socket, answers: () => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status) };
  };
  const tickets = () => daemon.lines().map(({ scope }) => scope.ticket);
  const inTurn = open(fact('ENG-1') + get('/api/nowhere') + fact('ENG-2') + get('/api/health'));
  await until(() => inTurn.answers().length === 4);
  expect(inTurn.answers()).toEqual(['200', '404', '200', '200']);
  // A stream never ends.
  const stuck = open(get('/api/events/stream') + fact('ENG-3'));
  await until(() => stuck.answers().length === 1);
  const other = open(fact('ENG-4'));
  await until(() => other.answers().length === 1);
  stuck.socket.destroy();
  await until(() => stuck.socket.closed);
  await daemon.close();
  expect(tickets()).toEqual(['ENG-1', 'ENG-2', 'ENG-4']);
});

test('a graceful stop finishes open requests, and ends streams', async () => {
  const secret = 'x'.repeat(64);
  const daemon = await startInProcess({ environment: { SVC_WEBHOOK_SECRET: secret } });
  const stream = await fetch(`${daemon.url}/api/events/stream`);
  const sends = Array.from({ length: 200 }, (_, number) => {
    const body = JSON.stringify({ ...codehostExample('pull_request merged').payload, number });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const headers = {
      'X-Hub-Signature-256': `sha256=${signature}`,
      'X-Codehost-Event': 'pull_request',
      'X-Codehost-Delivery': `d-${number}`,
    };
    return daemon.post('/api/webhook', body, headers).then(
      ({ status }) => status,
      () => 'refused' as const,
    );
  });
  await sends[0];
  // Connections are cut after 5 s of closing. A slow machine gets longer, and nothing may need it.
  const inReality = setTimeout;
  const slowly = vi
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation((work: () => void, ms?: number, ...given: []) =>
      inReality(work, ms === 5_000 ? WAIT_MS : ms, ...given),
    );
  const cut = vi.spyOn(Server.prototype, 'closeAllConnections');
  onTestFinished(() => {
    slowly.mockRestore();
    cut.mockRestore();
  });
  await daemon.close();
  expect(cut).not.toHaveBeenCalled();
  const answers = await Promise.all(sends);
  // Every accepted delivery was answered: as many events as responses.
  expect(daemon.lines()).toHaveLength(answers.filter((answer) => answer === 200).length);
  await stream.text();
});
