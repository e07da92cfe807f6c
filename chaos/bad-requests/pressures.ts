// Clients that only cost the daemon resources: connections that are slow, half open or never read, endless bodies,
// floods, heavy filters, broken files, another user. Each continues for some seconds and stops.
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { api } from '../../packages/monitor/src/features/api.ts';
import {
  asOtherUser,
  BURST,
  canBeOtherUser,
  reusedPorts,
} from '../../packages/testkit/src/access/other-user.ts';
import type { Random } from '../../packages/testkit/src/random.ts';
import { requestBytes } from '../../packages/testkit/src/wire/exchange.ts';
import type { Source } from './bad-request.ts';

export type Target = { port: number; home: string; source: Source; random: Random; isOver: () => boolean };

type Pressure = { name: string; weight: number; apply: (target: Target) => Promise<void> };

const MIB = 1024 * 1024;
const routes = Object.values(api).map(({ method, path }) => ({ method, path }));
const changing = routes.filter(({ method }) => method !== 'GET');
const reading = routes.filter(({ method }) => method === 'GET');

export const pressures: readonly Pressure[] = [
  pressure('heads sent byte by byte', 2, async (target) => {
    const bytes = requestBytes(target.source.good());
    await withSockets(target, 10, async (socket) => {
      for (let at = 0; at < bytes.length && isUsable(socket, target); at += 1) {
        socket.write(bytes.subarray(at, at + 1));
        await sleep(100);
      }
    });
  }),
  sockets('connections that send nothing, or half a head', 2, 20, async (socket, target) => {
    const { random } = target;
    if (random.chance(0.5)) socket.write('POST /api/webhook HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-');
    await hold(socket, target, 3 + random.below(12));
    if (random.chance(0.5)) socket.resetAndDestroy();
  }),
  pressure('deliveries that never end', 1, async (target) => {
    const { source, random } = target;
    const piece = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 0x20), Buffer.from('\r\n')]);
    const { body: _body, ...delivery } = source.good();
    const headers = delivery.headers.filter(([name]) => name !== 'Content-Length');
    const isSlow = random.chance(0.5);
    await withSockets(target, 3, async (socket) => {
      socket.write(requestBytes({ ...delivery, headers: [...headers, ['Transfer-Encoding', 'chunked']] }));
      for (let sent = 0; sent < 30 * MIB && isUsable(socket, target); sent += piece.length) {
        if (!socket.write(piece) || isSlow) await sleep(isSlow ? 100 : 5);
      }
    });
  }),
  sockets('API bodies without their last byte', 1, 50, async (socket, target) => {
    const { random } = target;
    const { method, path } = random.pick(changing);
    socket.write(
      head(method, fill(path, random), ['Content-Type: application/json', 'Content-Length: 1000000']),
    );
    socket.write(Buffer.alloc(999_999, 0x20));
    await hold(socket, target, 2 + random.below(8));
  }),
  sockets('a flood of JSON', 2, 10, async (socket, target) => {
    const { random } = target;
    socket.resume();
    for (let turn = 0; turn < 20 && isUsable(socket, target); turn += 1) {
      const { method, path } = random.pick(changing);
      const body = Buffer.from(floodBody(random));
      const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];
      socket.write(head(method, fill(path, random), headers));
      if (!socket.write(body)) await sleep(20);
    }
    await hold(socket, target, 2);
  }),
  sockets('streams that are never read', 2, 30, async (socket, target) => {
    const { random } = target;
    socket.pause();
    socket.write(
      head('GET', `/api/events/stream?since=${random.pick(['0', '1h', '1', '2000-01-01T00:00:00Z'])}`),
    );
    await hold(socket, target, 3 + random.below(15));
  }),
  sockets('answers that are never read', 1, 10, async (socket, target) => {
    const { random } = target;
    socket.pause();
    const path = random.pick(['/api/events?limit=1000', '/api/board', '/openapi.json', '/metrics']);
    for (let turn = 0; turn < 50; turn += 1) socket.write(head('GET', path));
    await hold(socket, target, 3 + random.below(10));
  }),
  sockets('streams that are read, and cut', 2, 10, async (socket, target) => {
    const { random } = target;
    socket.resume();
    socket.write(head('GET', '/api/events/stream', [`Last-Event-ID: ${random.below(50_000)}`]));
    await hold(socket, target, 1 + random.below(5));
  }),
  pressure('jq filters that are heavy or rejected', 2, async (target) => {
    const { random } = target;
    const path = random.pick(['/api/events', '/api/events/stream']);
    const filter = encodeURIComponent(random.pick(filters));
    await ask(target, 3, () => head('GET', `${path}?filter=${filter}`));
  }),
  pressure('queries, paths and routes that are wrong', 3, (target) =>
    ask(target, 20, () => {
      const { random } = target;
      const { path } = random.pick(reading);
      const wrong = random.pick(wrongQueries);
      const other = random.pick(wrongPaths);
      return head('GET', random.chance(0.5) ? `${fill(path, random)}?${wrong}` : other);
    }),
  ),
  pressure('a page from another site, another host name', 2, (target) =>
    ask(target, 20, () => {
      const { random } = target;
      const { method, path } = random.pick(routes);
      const foreign = random.pick([
        ['Host: evil.example'],
        ['Host: 127.0.0.1.evil.example'],
        ['Host: localhost', 'Origin: https://evil.example'],
        ['Host: localhost', 'Origin: null'],
        ['Host: localhost', 'Sec-Fetch-Site: cross-site'],
      ]);
      return Buffer.from(`${method} ${fill(path, random)} HTTP/1.1\r\n${foreign.join('\r\n')}\r\n\r\n`);
    }),
  ),
  pressure('another user', canBeOtherUser ? 0.5 : 0, async ({ port }) => {
    await asOtherUser(BURST, { port, ports: reusedPorts, count: 200 });
  }),
  pressure('a project file that is broken', 1, async ({ home, random }) => {
    mkdirSync(join(home, '.svc'), { recursive: true });
    writeFileSync(join(home, '.svc/config.json'), random.pick(projectFiles));
    await sleep(1500);
  }),
];

/** A number of connections that all do the same. */
function sockets(
  name: string,
  weight: number,
  count: number,
  work: (socket: Socket, target: Target) => Promise<void>,
): Pressure {
  return pressure(name, weight, (target) => withSockets(target, count, (socket) => work(socket, target)));
}

function pressure(name: string, weight: number, apply: Pressure['apply']): Pressure {
  return { name, weight, apply };
}

const filters = [
  'def f: f; f',
  '[range(1e9)]',
  'reduce range(1e8) as $i (0; . + $i)',
  '"x" * 1e9 | length',
  'input',
  '[inputs]',
  '$ENV',
  'import "a" as a; .',
  '.event ==',
  'test("(a+)+$")',
  `${'('.repeat(500)}.${')'.repeat(500)}`,
  'x'.repeat(5_000),
  'limit(1e9; repeat(.))',
  '.detail | tostring | length > 10',
];
const wrongQueries = [
  ...'limit=-1 limit=1e9 limit=1000 since=yesterday since=9e99 at=%ff until=%00 buckets=100000'.split(' '),
  ...'__proto__=1&constructor[prototype]=2 event=*.*.*&event=x'.split(' '),
  `ticket=${'x'.repeat(8_000)}`,
  'a=1&'.repeat(2_000),
];
const wrongPaths = [
  ...'/api/% /api/workers/%ff/why /api/../../etc/passwd /..%2f..%2fetc/passwd'.split(' '),
  ...'/api/nowhere /.git/config //evil.example/api'.split(' '),
  `/api/workers/${'x'.repeat(300)}/why`,
  `/${'a/'.repeat(3_000)}`,
];
const projectFiles = [
  '{}',
  '{"svc": {"projectKey": "demo"}}',
  '{"svc": {"orchestration": {"maxParallel": "x"}}}',
  '{"svc": ',
  '\u0000\u0001',
  '[]',
  '{"__proto__": {"svc": 1}}',
  `{"svc": ${'['.repeat(50_000)}`,
  JSON.stringify({ svc: { project: { name: 'x'.repeat(500_000) } } }),
];

function floodBody(random: Random): string {
  return random.pick([
    () => JSON.stringify({ event: 'x'.repeat(400_000 + random.below(600_000)) }),
    () => JSON.stringify(Array.from({ length: 50_000 }, (_, index) => index)),
    () => '['.repeat(100_000),
    () => `{"action":${'{"a":'.repeat(20_000)}`,
    () => 'null',
    () => JSON.stringify({ by: 'x'.repeat(2_000), tickets: Array.from({ length: 5_000 }, () => 'ABC-1') }),
    () =>
      JSON.stringify({
        event: 'orchestrator.worker.status_changed',
        scope: { ticket: `T-${random.below(50)}` },
        detail: { to: 'researching', note: 'x'.repeat(60_000) },
      }),
  ])();
}

function head(method: string, path: string, headers: readonly string[] = []): Buffer {
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${['Host: 127.0.0.1', ...headers].join('\r\n')}\r\n\r\n`);
}

function fill(path: string, random: Random): string {
  return path.replaceAll(/:\w+|\{\w+\}/g, () =>
    random.pick(['nobody', 'ABC-1', '%2e%2e', '__proto__', 'x'.repeat(150)]),
  );
}

/** Each on its own connection; the answer is read and ignored. */
function ask(target: Target, count: number, make: () => Buffer): Promise<void> {
  return withSockets(target, count, async (socket) => {
    const answered = new Promise<void>((done) =>
      socket.once('data', () => done()).once('close', () => done()),
    );
    socket.write(make());
    await Promise.race([answered, hold(socket, target, 10)]);
  });
}

/** Opens a number of connections, and closes each when its work is done. */
async function withSockets(
  { port }: Target,
  count: number,
  work: (socket: Socket) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ port, host: '127.0.0.1' });
      // The daemon may end a connection in any way.
      socket.on('error', () => undefined);
      await work(socket);
      socket.destroy();
    }),
  );
}

function isUsable(socket: Socket, { isOver }: Target): boolean {
  return !socket.destroyed && socket.writable && !isOver();
}

async function hold(socket: Socket, target: Target, seconds: number): Promise<void> {
  for (let waited = 0; waited < seconds && isUsable(socket, target); waited += 0.2) await sleep(200);
}
