// Only the owner: whom the daemon answers, which daemons the CLI accepts, and how both work without the kernel's table.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, get, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { system } from '@svc/lib/system';
import {
  askFromPorts,
  asOtherUser,
  BURST,
  type BurstResult,
  canBeOtherUser,
  OTHER_UID,
  reusedPorts,
  startAsOtherUser,
  temporaryFolder,
  testTerminal,
  until,
  untilHolds,
} from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import type { ReadSocketTable } from '../src/kernel/access/socket-table.ts';
import { claimInstance } from '../src/kernel/instance/instance.ts';
import { type InProcessDaemon, startInProcess } from './in-process-daemon.ts';
import { registeredRoutes } from './registered-routes.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);
const SECRET = 'x'.repeat(64);
const json = { 'Content-Type': 'application/json' };
const REFUSED = {
  error: 'The daemon only accepts connections from its own user.',
  code: 'not-the-owner',
  remedy: expect.any(String),
};

/** An event that helpers may report. */
const factOf = (orchestrator: string): string =>
  JSON.stringify({ event: 'orchestrator.run.started', scope: { orchestrator } });

/** A command of the owner, in the daemon's home. */
async function svc(home: string, ...words: string[]) {
  const terminal = testTerminal();
  const environment = { HOME: home, SVC_DATA_DIR: join(home, 'svc'), SVC_MONITOR_PORT: '0' };
  const code = await runCommandLine({ ...terminal, environment, home, folder: home }, words);
  return { code, out: terminal.printed(), err: terminal.complained() };
}

const accessOf = async (daemon: InProcessDaemon, headers: Record<string, string> = {}) =>
  (await daemon.get('/api/health', headers)).body['access'];

const tokenOf = ({ machine }: InProcessDaemon) =>
  readFileSync(join(machine.dataDir, 'api-token'), 'utf8').trim();
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** The kernel's table, in which from some point on every socket belongs to the other user. */
function tableOfStrangers(): { read: ReadSocketTable; begin: () => void } {
  let theirs = false;
  return {
    begin: () => (theirs = true),
    async read(family) {
      const rows = await system.socketTable(family);
      return theirs ? rows?.replaceAll(/( 01 \S+ \S+ \S+ +)\d+/g, `$1${OTHER_UID}`) : rows;
    },
  };
}

describe.runIf(existsSync('/proc/net/tcp'))('by the kernel’s table', () => {
  test.runIf(canBeOtherUser)(
    'another user gets 403 from every route, the event stream and the dashboard, and no data; deliveries are accepted from everyone (skipped where no second user can be created: only root can)',
    async () => {
      const daemon = await startInProcess({ environment: { SVC_WEBHOOK_SECRET: SECRET } });
      const routes = (await registeredRoutes()).map(({ method, url }) => [
        method,
        url.replaceAll(/:\w+/g, 'x'),
      ]);
      expect(routes.length).toBeGreaterThan(40);
      const more = ['/', '/index.html', '/runs', '/assets/x.js', '/nowhere', '/api/%', '//api/health'];
      const asked = [
        ...routes,
        ...more.map((path) => ['GET', path]),
        ['HEAD', '/api/board'],
        ['OPTIONS', '/api/board'],
        ['PUT', '/api/webhook'],
        ['GET', '/api/webhook'],
        ['POST', '/api/webhook/../events'],
        ['POST', '/api/webhook'],
        ['POST', '/api/webhook/tracker'],
      ];
      const answers = await asOtherUser<{ name: string; status: number; body: string }[]>(
        `const { request } = require('node:http');
         const made = [];
         for (const host of ['127.0.0.1', '::1'])
           for (const [method, path] of given.asked)
             made.push(await new Promise((done, fail) => {
               const headers = { Host: 'localhost', 'Content-Type': 'application/json', Authorization: 'Bearer x' };
               request({ host, port: given.port, method, path, headers, agent: false }, (response) => {
                 let body = '';
                 response.on('data', (part) => (body += part));
                 response.on('end', () => done({ name: host + ' ' + method + ' ' + path, status: response.statusCode, body }));
               }).on('error', fail).end(method === 'POST' ? '{}' : undefined);
             }));
         return made;`,
        { port: daemon.port, asked },
      );
      expect(answers).toHaveLength(2 * asked.length);
      const open = answers.filter(({ name }) => /POST \/api\/webhook(?:\/tracker)?$/.test(name));
      expect(open.map(({ status }) => status)).toEqual([401, 503, 401, 503]);
      for (const { name, status, body } of answers.filter((one) => !open.includes(one))) {
        expect(status, name).toBe(403);
        if (!name.includes('HEAD')) expect(JSON.parse(body), name).toEqual(REFUSED);
      }
      expect(await accessOf(daemon)).toEqual({
        by: 'owner',
        refused: { 'other-user': answers.length - open.length },
      });
      expect(daemon.lines()).toEqual([]);
    },
  );

  test.runIf(canBeOtherUser)(
    'nor does anyone get in who opens and closes connections as fast as possible, on ports that the owner uses too (skipped without root)',
    async () => {
      const daemon = await startInProcess();
      let isOver = false;
      const owner = askFromPorts(daemon.port, () => isOver);
      const burst = await asOtherUser<BurstResult>(BURST, {
        port: daemon.port,
        ports: reusedPorts,
        count: 400,
      });
      isOver = true;
      expect(await owner).toBeGreaterThan(0);
      expect(burst.data).toBe(0);
      expect(burst.sent).toBeGreaterThan(100);
      // An event of the owner comes after all of theirs.
      await daemon.post('/api/events', factOf('owner'), json);
      expect(daemon.lines().map(({ scope }) => scope.orchestrator)).toEqual(['owner']);
    },
  );

  test('a connection that the table assigns to another user is refused, and looked up once', async () => {
    const strangers = tableOfStrangers();
    const daemon = await startInProcess({ socketTable: strangers.read });
    expect((await daemon.get('/api/board')).status).toBe(200);
    strangers.begin();
    // An accepted connection stays accepted; another one is refused.
    expect(await call(daemon, '/api/board')).toMatchObject({ status: 403, body: REFUSED });
    expect(await call(daemon, '/')).toMatchObject({ status: 403, body: REFUSED });
    expect((await call(daemon, '/api/webhook', { method: 'POST' })).status).toBe(503);
    expect(await accessOf(daemon)).toEqual({ by: 'owner', refused: { 'other-user': 2 } });
  });

  test('a connection that ended before it was looked up is refused, even if the table still lists it as ours', async () => {
    const gate = Promise.withResolvers<void>();
    let isHeldUp = false;
    let asked = 0;
    const daemon = await startInProcess({
      async socketTable(family) {
        const table = await system.socketTable(family);
        if (isHeldUp) {
          asked += 1;
          await gate.promise;
        }
        return table;
      },
    });
    isHeldUp = true;
    const fact = factOf('gone');
    const socket = connect(daemon.port, '127.0.0.1', () => {
      const head = `POST /api/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${fact.length}\r\n\r\n`;
      socket.write(head + fact);
    });
    await until(() => asked > 0);
    socket.resetAndDestroy();
    isHeldUp = false;
    gate.resolve();
    await untilHolds(async () =>
      expect(await accessOf(daemon)).toEqual({ by: 'owner', refused: { gone: 1 } }),
    );
    expect(daemon.lines()).toEqual([]);
  });

  test('a table that can no longer be read lets no one in, and health counts it when it can', async () => {
    let fails = false;
    const daemon = await startInProcess({
      socketTable: (family) => (fails ? Promise.reject(new Error('EMFILE')) : system.socketTable(family)),
    });
    fails = true;
    expect(await call(daemon, '/api/board')).toMatchObject({ status: 403, body: REFUSED });
    fails = false;
    expect(await accessOf(daemon)).toEqual({ by: 'owner', refused: { 'table-unreadable': 1 } });
  });

  test('an IPv6 socket is found in the file for IPv6, which is read for no other', async () => {
    const files: string[] = [];
    const daemon = await startInProcess({
      socketTable(family) {
        files.push(family);
        return system.socketTable(family);
      },
    });
    const asked = (host: string) =>
      new Promise((resolve) => {
        files.length = 0;
        const headers = { Host: 'localhost' };
        const options = { host, port: daemon.port, path: '/api/figures', headers, agent: false };
        get(options, ({ statusCode }) => resolve([statusCode, ...files])).on('error', resolve);
      });
    expect(await asked('127.0.0.1')).toEqual([200, 'tcp']);
    if (!hasIpv6) return;
    expect(await asked('::ffff:127.0.0.1')).toEqual([200, 'tcp', 'tcp6']);
    expect(await asked('::1')).toEqual([200, 'tcp', 'tcp6']);
  });

  test('one read of the table serves all waiting connections', async () => {
    let readings = 0;
    const daemon = await startInProcess({
      socketTable(family) {
        readings += 1;
        return system.socketTable(family);
      },
    });
    const before = readings;
    const answers = await Promise.all(Array.from({ length: 100 }, () => call(daemon, '/api/figures')));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(readings - before).toBeLessThan(60);
  });
});

test('the owner needs no setup: no token is created, and the CLI, the client and curl are answered', async () => {
  const daemon = await startInProcess();
  if (existsSync('/proc/net/tcp')) expect(existsSync(join(daemon.machine.dataDir, 'api-token'))).toBe(false);
  expect(await svc(daemon.home, 'monitor', 'status')).toMatchObject({ code: 0 });
  expect(await svc(daemon.home, 'board', '--json')).toMatchObject({ code: 0 });
  expect(await svc(daemon.home, 'open')).toMatchObject({ code: 0, out: daemon.url });
});

test('it listens on ::1 too, if available, and another program’s ::1 counts as a taken port', async () => {
  const daemon = await startInProcess();
  const six = daemon.url.replace('127.0.0.1', '[::1]');
  const other = createServer();
  if (!hasIpv6) return;
  await new Promise<void>((resolve) => other.listen(0, '::1', resolve));
  expect((await fetch(`${six}/api/health`)).status).toBe(200);
  const { port } = other.address() as AddressInfo;
  await expect(startInProcess({ environment: { SVC_MONITOR_PORT: String(port) } })).rejects.toThrow(
    'EADDRINUSE',
  );
  other.close();
});

describe('which daemons the CLI accepts', () => {
  test('the port of a dead daemon that another program took with its id: not running, events wait in the spool, nothing is sent', async () => {
    const home = temporaryFolder();
    const dataDir = join(home, 'svc');
    const instance = '00000000-0000-4000-8000-000000000001';
    const asked: string[] = [];
    const squatter = createServer((got, response) => {
      asked.push(`${got.method} ${got.url}`);
      response.end(JSON.stringify({ status: 'ok', ...record(port), seq: 1 }));
    });
    onTestFinished(() => squatter.close().closeAllConnections());
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
    const { port } = squatter.address() as AddressInfo;
    const record = (at: number) => ({
      instance,
      pid: process.pid,
      port: at,
      url: `http://127.0.0.1:${at}`,
      version: '1.2.3',
      startedAt: '2026-01-02T03:04:05.678Z',
    });
    claimInstance(dataDir)?.withdraw();
    writeFileSync(join(dataDir, 'daemon.json'), JSON.stringify({ state: 'running', ...record(port) }));
    expect(await svc(home, 'monitor', 'status')).toMatchObject({
      code: 1,
      out: expect.stringContaining('stopped'),
    });
    const fact = ['--event', 'orchestrator.run.started', '--orchestrator', 'SECRETFACT'];
    const appended = await svc(home, 'events', 'append', ...fact);
    expect(JSON.parse(appended.out)).toEqual({ ok: true, spooled: expect.any(String) });
    expect(await svc(home, 'orchestrate', 'start', 'ABC-1')).toMatchObject({ code: 5 });
    expect(asked).toEqual([]);
  });

  test.runIf(canBeOtherUser)(
    'a program of another user is sent nothing, even while the lock is held (skipped without root)',
    async () => {
      const home = temporaryFolder();
      const dataDir = join(home, 'svc');
      const child = startAsOtherUser(
        `const server = require('node:http').createServer((got, response) => { console.log(got.url); response.end('{}'); });
         server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));`,
        {},
      );
      onTestFinished(() => void child.kill('SIGKILL'));
      let said = '';
      child.stdout.on('data', (part) => (said += String(part)));
      const port = await until(() => Number(/port (\d+)/.exec(said)?.[1] ?? 0));
      const instance = claimInstance(dataDir);
      onTestFinished(() => instance?.withdraw());
      await instance?.announce({
        state: 'running',
        instance: '00000000-0000-4000-8000-000000000001',
        pid: process.pid,
        port,
        url: `http://127.0.0.1:${port}`,
        version: '1.2.3',
        startedAt: '2026-01-02T03:04:05.678Z',
      });
      expect(await svc(home, 'monitor', 'status')).toMatchObject({
        code: 1,
        out: expect.stringContaining('not answering'),
      });
      const fact = ['--event', 'orchestrator.run.started', '--orchestrator', 'SECRETFACT'];
      expect(JSON.parse((await svc(home, 'events', 'append', ...fact)).out)).toHaveProperty('spooled');
      // Our own request is the only one that it has received.
      await fetch(`http://127.0.0.1:${port}/last`);
      await until(() => said.includes('/last'));
      expect(said).toBe(`port ${port}\n/last\n`);
    },
  );
});

describe('where the system does not report who is behind a connection', () => {
  const withoutTable = (now?: () => Date) =>
    startInProcess({ socketTable: () => Promise.resolve(undefined), ...(now && { now }) });

  test('a request without the token is refused with instructions; deliveries and the dashboard’s files are not', async () => {
    const daemon = await withoutTable();
    const token = tokenOf(daemon);
    for (const { method, url } of await registeredRoutes()) {
      if (url === '/api/access/key') continue;
      const path = url.replaceAll(/:\w+/g, 'x');
      const { status, body, headers } = await call(daemon, path, { method });
      expect(status, path).toBe(401);
      expect(body, path).toMatchObject({ code: 'token-needed', remedy: expect.stringContaining('svc open') });
      expect(headers['www-authenticate']).toBe('Bearer');
      expect(JSON.stringify(body)).not.toContain(token);
    }
    for (const wrong of [bearer('x'), bearer(`${token}x`), { Authorization: token }, { Cookie: token }])
      expect((await call(daemon, '/api/board', { headers: wrong })).status).toBe(401);
    expect((await call(daemon, '/api/board', { headers: bearer(token) })).status).toBe(200);
    expect((await call(daemon, '/api/webhook', { method: 'POST' })).status).toBe(503);
    expect([200, 503]).toContain((await fetch(daemon.url)).status);
    expect(statSync(join(daemon.machine.dataDir, 'api-token')).mode & 0o777).toBe(0o600);
    expect(await accessOf(daemon, bearer(token))).toMatchObject({
      by: 'token',
      refused: { 'wrong-token': 2 },
    });
    expect(daemon.printed()).not.toContain(token);
  });

  test('the CLI sends it on its own', async () => {
    const daemon = await withoutTable();
    expect(await svc(daemon.home, 'monitor', 'status')).toMatchObject({ code: 0 });
    expect(await svc(daemon.home, 'board', '--json')).toMatchObject({ code: 0 });
    const fact = ['--event', 'orchestrator.run.started', '--orchestrator', 'SECRETFACT'];
    expect(JSON.parse((await svc(daemon.home, 'events', 'append', ...fact)).out)).toHaveProperty('seq');
    // Through the stream, where it waits for an event that exists already.
    const wait = [
      'events',
      'wait-for',
      '--event',
      'orchestrator.run.started',
      '--since',
      '0',
      '--timeout',
      '60',
    ];
    expect(await svc(daemon.home, ...wait)).toMatchObject({
      code: 0,
      out: expect.stringContaining('SECRETFACT'),
    });
  });

  test('svc open creates a code that a page exchanges for a key, once and within a minute', async () => {
    let now = Date.now();
    const daemon = await withoutTable(() => new Date(now));
    const codeOf = async () => {
      const { out, code } = await svc(daemon.home, 'open');
      expect(code).toBe(0);
      return /#enter=([\w-]+)$/m.exec(out)?.[1] ?? '';
    };
    const trade = (code: string) => daemon.post('/api/access/key', JSON.stringify({ code }), json);
    const code = await codeOf();
    expect(statSync(join(daemon.machine.dataDir, 'open.html')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(daemon.machine.dataDir, 'open.html'), 'utf8')).toContain(`/#enter=${code}"`);
    const { status, body } = await trade(code);
    expect(status).toBe(200);
    const key = body['key'] as string;
    expect((await call(daemon, '/api/board', { headers: bearer(key) })).status).toBe(200);
    expect(await trade(code)).toMatchObject({ status: 401, body: { code: 'unknown-code' } });
    const late = await codeOf();
    now += 60_000;
    expect(await trade(late)).toMatchObject({ status: 401, body: { code: 'unknown-code' } });
    expect(await trade('x')).toMatchObject({ status: 401 });
    expect(daemon.printed()).not.toContain(key);
  });

  test('a daemon that has the table again removes the file; another start creates another token', async () => {
    const daemon = await withoutTable();
    const first = tokenOf(daemon);
    await daemon.close();
    const second = await startInProcess({ home: daemon.home, socketTable: () => Promise.resolve(undefined) });
    expect(tokenOf(second)).not.toBe(first);
    await second.close();
    if (!existsSync('/proc/net/tcp')) return;
    await startInProcess({ home: daemon.home });
    expect(existsSync(join(daemon.machine.dataDir, 'api-token'))).toBe(false);
  });
});

describe('a daemon that only shows the board (svc team serve)', () => {
  test('nothing is answered without the token, not even a file of the dashboard', async () => {
    const daemon = await startInProcess({ readOnly: true, environment: { SVC_WEBHOOK_SECRET: SECRET } });
    const asked = [
      ...(await registeredRoutes()),
      ...['/', '/index.html', '/assets/x.js'].map((url) => ({ method: 'GET', url })),
      ...['/api/webhook', '/api/webhook/tracker', '/api/nowhere'].map((url) => ({ method: 'POST', url })),
    ];
    for (const { method, url } of asked) {
      const path = url.replaceAll(/:\w+/g, 'x');
      const { status, body } = await call(daemon, path, { method });
      expect(status, `${method} ${path}`).toBe(401);
      expect(body, path).toMatchObject({ code: 'token-needed', remedy: expect.stringContaining('proxy') });
    }
  });

  test('with the token every changing route is refused with a sentence, and what only reads is answered', async () => {
    const daemon = await startInProcess({ readOnly: true });
    const headers = bearer(tokenOf(daemon));
    const changing = (await registeredRoutes()).filter(({ method }) => method !== 'GET');
    expect(changing.length).toBeGreaterThan(20);
    const methods = ['PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => ({ method, url: '/api/board' }));
    const receivers = ['/api/webhook', '/api/webhook/tracker'].map((url) => ({ method: 'POST', url }));
    for (const { method, url } of [...changing, ...methods, ...receivers]) {
      const path = url.replaceAll(/:\w+/g, 'x');
      const { status, body } = await call(daemon, path, { method, headers });
      expect(status, `${method} ${path}`).toBe(403);
      expect(body, path).toMatchObject({ code: 'read-only', error: expect.stringContaining('only shows') });
    }
    expect(daemon.lines()).toEqual([]);
    for (const path of ['/api/board?team=1', '/api/board/changes', '/api/attention', '/api/team'])
      expect((await call(daemon, path, { headers })).status, path).toBe(200);
    expect([200, 503]).toContain((await call(daemon, '/', { headers })).status);
    expect(await accessOf(daemon, headers)).toMatchObject({ by: 'token', readOnly: true });
    expect((await daemon.get('/api/health', headers)).body).toMatchObject({ status: 'ok' });
  });

  test('it listens on loopback only, and the token stays the same at every start', async () => {
    const daemon = await startInProcess({ readOnly: true });
    const token = tokenOf(daemon);
    expect(statSync(join(daemon.machine.dataDir, 'api-token')).mode & 0o777).toBe(0o600);
    const outside = Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).filter(({ internal, family }) => !internal && family === 'IPv4'),
    );
    for (const { address } of outside)
      await expect(fetch(`http://${address}:${daemon.port}/api/health`)).rejects.toThrow('fetch failed');
    const foreign = { ...bearer(token), Host: 'board.example.com' };
    expect((await call(daemon, '/api/board', { headers: foreign })).status).toBe(403);
    await daemon.close();
    expect(tokenOf(await startInProcess({ readOnly: true, home: daemon.home }))).toBe(token);
  });

  test('the command needs a team', async () =>
    expect(await svc(temporaryFolder(), 'team', 'serve')).toMatchObject({
      code: 1,
      err: expect.stringContaining('svc team join'),
    }));
});

/** On its own connection. */
function call(
  { port }: Pick<InProcessDaemon, 'port'>,
  path: string,
  options: { method?: string; headers?: Record<string, string> } = {},
) {
  type Answer = { status: number; body: unknown; headers: Record<string, unknown> };
  return new Promise<Answer>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, agent: false, ...options }, (response) => {
      let text = '';
      response
        .on('data', (part) => (text += String(part)))
        .on('end', () => {
          const isJson = response.headers['content-type']?.includes('json') === true;
          resolve({
            status: response.statusCode ?? 0,
            body: isJson ? JSON.parse(text) : text,
            headers: response.headers,
          });
        });
    });
    sent.on('error', reject).end();
  });
}
