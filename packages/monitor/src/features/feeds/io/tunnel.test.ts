// The loop against a scripted relay and a clock that the test moves: every fault, and how it is reported.
import { createManualClock, createRandom } from '@svc/testkit';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { FeedGrade } from '../feed-grade.ts';
import { createScriptedConnect, type ScriptedConnection } from '../testing/scripted-connect.ts';
import type { ReceiverAnswer, TunnelDelivery } from './delivery-service.ts';
import { createTunnel, type Gap, type TunnelOptions } from './tunnel.ts';

function setUp(given: Partial<TunnelOptions> & { script?: ScriptedConnection[] } = {}) {
  const { script = [], ...options } = given;
  const clock = createManualClock();
  const relay = createScriptedConnect();
  relay.next(...script);
  const received: TunnelDelivery[] = [];
  const grades: string[] = [];
  const edges: FeedGrade[] = [];
  const gaps: Gap[] = [];
  const answers: ReceiverAnswer[] = [];
  const tunnel = createTunnel({
    feed: 'codehost',
    channel: { use: true, url: 'https://relay.example/channel' },
    receive(delivery) {
      received.push(delivery);
      return Promise.resolve(answers.shift() ?? { status: 200, outcome: 'accepted' });
    },
    cursorOf: () => null,
    logger: pino({ enabled: false }),
    onState(to) {
      grades.push(to.grade);
      edges.push(to);
    },
    onGap: (gap) => void gaps.push(gap),
    clock,
    random: () => 0.5,
    connect: relay.connect,
    ...options,
  });
  onTestFinished(() => tunnel.stop());
  const mode = () => tunnel.state().now;
  const start = async (): Promise<void> => {
    tunnel.start();
    await clock.settle();
  };
  const say = async (text: string | Uint8Array): Promise<void> => {
    relay.stream().say(text);
    await clock.settle();
  };
  return { clock, relay, received, grades, edges, gaps, answers, tunnel, mode, start, say };
}

const ping = 'event: ping\ndata: {}\n\n';
const delivery = (body: object, id = '1', extra: object = {}): string =>
  `id: ${id}\ndata: ${JSON.stringify({ 'x-github-event': 'push', body, query: {}, timestamp: 1, ...extra })}\n\n`;

test('from idle to live: what it requests, what it passes on, what it shows', async () => {
  const { tunnel, relay, start, say, received, mode, grades, gaps, clock } = setUp();
  expect(tunnel.state()).toMatchObject({
    now: { mode: 'idle' },
    grade: { grade: 'disabled', code: 'stopped' },
  });
  const up = tunnel.up(1000);
  await start();
  expect(await up).toBe(true);
  expect(relay.requests).toHaveLength(1);
  expect(relay.requests[0]?.url.href).toBe('https://relay.example/channel');
  expect(relay.requests[0]?.headers).toEqual({
    accept: 'text/event-stream',
    'cache-control': 'no-store',
    'user-agent': 'svc',
  });
  expect(mode()).toMatchObject({ mode: 'live' });
  expect(grades).toEqual(['connecting', 'live']);
  expect(gaps).toEqual([{ reason: 'start', since: null }]);
  await say(delivery({ a: 1 }) + ping);
  expect(received).toEqual([
    {
      headers: { 'x-github-event': 'push', 'content-type': 'application/json' },
      body: Buffer.from('{"a":1}'),
    },
  ]);
  expect(tunnel.stats()).toMatchObject({
    deliveries: { accepted: 1 },
    lastPingAt: clock.now(),
    lastMessageAt: clock.now(),
    connectedSince: clock.now(),
    cursor: null,
    reconnects: 0,
    lastError: null,
  });
  await tunnel.stop();
  expect(mode()).toEqual({ mode: 'idle' });
  expect(relay.stream().abandoned()).toBe(true);
  expect(clock.timers()).toBe(0);
});

test('disabled: nothing is opened, with the reason and the remedy', async () => {
  const { tunnel, relay, start, clock, mode } = setUp({
    channel: { use: false, why: 'no relay channel is configured', remedy: 'Run: svc setup-webhooks' },
  });
  await start();
  await clock.advance(600_000);
  expect(relay.requests).toEqual([]);
  expect(mode()).toMatchObject({ mode: 'disabled' });
  expect(tunnel.state().grade).toMatchObject({ grade: 'disabled', remedy: 'Run: svc setup-webhooks' });
  expect(tunnel.stats()).toMatchObject({ connectedSince: null, cursor: null });
});

test.each<[string, ScriptedConnection, RegExp]>([
  ['500', { status: 500 }, /answered 500/],
  ['502', { status: 502 }, /answered 502/],
  ['503', { status: 503 }, /answered 503/],
  ['429', { status: 429 }, /overloaded/],
  ['204', { status: 204 }, /answered 204/],
  ['401', { status: 401 }, /read key/],
  ['404', { status: 404 }, /does not know the channel/],
  ['a redirect without a target', { status: 302 }, /answered 302/],
  ['redirects in a loop', { status: 302, headers: { location: '/channel' } }, /redirects too many times/],
  ['a login page', { status: 200, headers: { 'content-type': 'text/html' } }, /a page instead of a stream/],
  ['an unknown name', Object.assign(new Error('x'), { code: 'ENOTFOUND' }), /DNS/],
  ['an untrusted certificate', Object.assign(new Error('x'), { code: 'CERT_HAS_EXPIRED' }), /certificate/],
  ['no answer', 'hang', /does not answer/],
])('it survives %s, reports it, and reconnects', async (name, answer, why) => {
  const attempts = name === 'redirects in a loop' ? 6 : 1;
  const { tunnel, start, clock, mode } = setUp({ script: Array.from({ length: attempts }, () => answer) });
  await start();
  await clock.advance(name === 'no answer' ? 15_000 : 0);
  expect(mode()).toMatchObject({ mode: 'backing-off', attempt: 0, until: clock.now() + 250 });
  expect(tunnel.stats().lastError?.why).toMatch(why);
  await clock.advance(250);
  expect(mode().mode).toBe('live');
});

test.each<[string, { status: number; key?: string }, RegExp, RegExp]>([
  ['no key', { status: 401 }, /wants a read key \(401\), and READ_KEY is not set/, /svc monitor restart/],
  [
    'a wrong key',
    { status: 401, key: 'not-this-one' },
    /does not accept the read key in READ_KEY \(401\)/,
    /svc setup-webhooks --force/,
  ],
  [
    'a key that is not enough',
    { status: 403, key: 'not-this-one' },
    /does not accept the read key in READ_KEY \(403\)/,
    /svc setup-webhooks --force/,
  ],
])(
  '%s: blind at once with the remedy, retried less and less often, and recovers by itself',
  async (_name, given, why, remedy) => {
    const { status, key } = given;
    const { tunnel, relay, start, clock, mode, edges } = setUp({
      readKey: { variable: 'READ_KEY', value: key, fileName: 'read-key' },
      script: Array.from({ length: 20 }, () => ({ status })),
    });
    await start();
    expect(tunnel.state().grade).toMatchObject({ grade: 'blind', code: 'read-key' });
    expect(tunnel.state().grade.why).toMatch(why);
    expect(tunnel.state().grade.remedy).toMatch(remedy);
    for (const wait of [
      250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000,
    ]) {
      expect(mode()).toMatchObject({ mode: 'backing-off', until: clock.now() + wait });
      await clock.advance(wait);
    }
    // Twelve requests in the first quarter of an hour, and then one in five minutes.
    expect(relay.requests).toHaveLength(13);
    expect(edges.map(({ grade }) => grade)).toEqual(['connecting', 'blind']);
    await clock.advance(8 * 300_000);
    expect(mode().mode).toBe('live');
    expect(tunnel.state().grade.grade).toBe('live');
    if (key !== undefined)
      expect(
        JSON.stringify([edges, tunnel.stats(), tunnel.state(), relay.requests.map(({ url }) => url)]),
      ).not.toContain(key);
  },
);

test('a channel that the relay does not know is retried less and less often', async () => {
  const { start, clock, mode } = setUp({ script: Array.from({ length: 9 }, () => ({ status: 404 })) });
  await start();
  for (const wait of [250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000]) {
    expect(mode()).toMatchObject({ mode: 'backing-off', until: clock.now() + wait });
    await clock.advance(wait);
  }
  expect(mode().mode).toBe('live');
});

test('the public relay does not get our name', async () => {
  const { start, relay } = setUp({ subscriber: 'host-1' });
  await start();
  expect(relay.requests.map(({ url }) => url.search)).toEqual(['']);
});

test('the waits double up to ten seconds, and a short connection does not reset them', async () => {
  const { relay, start, clock, mode } = setUp({ script: Array.from({ length: 8 }, () => ({ status: 503 })) });
  await start();
  for (const wait of [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]) {
    expect(mode()).toMatchObject({ mode: 'backing-off', until: clock.now() + wait });
    await clock.advance(wait);
  }
  expect(mode().mode).toBe('live');
  relay.stream().end();
  await clock.settle();
  expect(mode()).toMatchObject({ mode: 'backing-off', until: clock.now() + 10_000 });
  await clock.advance(10_000);
  await clock.advance(10_000);
  relay.stream().fail(Object.assign(new Error('x'), { code: 'ECONNRESET' }));
  await clock.settle();
  expect(mode()).toMatchObject({ mode: 'backing-off', attempt: 0, until: clock.now() + 250 });
});

test.each([
  ['7', 7000],
  ['Sun, 15 Nov 2026 12:00:40 GMT', 40_000],
  ['86400', 120_000],
])('Retry-After: %s is respected, within reason', async (header, wait) => {
  const { start, clock, mode } = setUp({ script: [{ status: 429, headers: { 'retry-after': header } }] });
  await start();
  expect(mode()).toMatchObject({ mode: 'backing-off', until: clock.now() + wait });
  await clock.advance(wait);
  expect(mode().mode).toBe('live');
});

test('an idle relay that pings is live for hours', async () => {
  const { start, say, clock, grades, relay } = setUp();
  await start();
  for (let half = 0; half < 2 * 60 * 4; half += 1) {
    await clock.advance(30_000);
    await say(ping);
  }
  expect(grades).toEqual(['connecting', 'live']);
  expect(relay.requests).toHaveLength(1);
});

test('a half-open connection is noticed within 90 seconds, and replaced', async () => {
  const { start, clock, mode, relay, tunnel, gaps, grades } = setUp();
  await start();
  const heardAt = clock.now();
  await clock.advance(74_000);
  expect({ mode: mode().mode, connections: relay.requests.length }).toEqual({ mode: 'live', connections: 1 });
  await clock.advance(16_000);
  expect({ mode: mode().mode, connections: relay.requests.length }).toEqual({ mode: 'live', connections: 2 });
  expect(relay.streams[0]?.abandoned()).toBe(true);
  expect(tunnel.stats()).toMatchObject({
    reconnects: 1,
    lastError: { why: expect.stringMatching(/silent/) },
  });
  expect(gaps.at(-1)).toEqual({ reason: 'reconnect', since: heardAt });
  expect(grades).toEqual(['connecting', 'live', 'late', 'live']);
});

test('a relay that accepts and sends nothing is late, then blind, and is retried forever', async () => {
  const mute = Array.from({ length: 20 }, () => 'mute' as const);
  const { start, clock, mode, relay, edges } = setUp({ script: ['open', ...mute] });
  await start();
  const heardAt = clock.now();
  await clock.advance(76_000);
  expect(mode().mode).toBe('late');
  await clock.advance(14_000);
  expect(edges.map(({ grade }) => grade)).toEqual(['connecting', 'live', 'late', 'blind']);
  expect(edges.at(-1)).toMatchObject({
    since: heardAt,
    why: 'the relay is connected but silent',
    remedy: expect.stringContaining('retried automatically'),
  });
  await clock.advance(1_000_000);
  expect(relay.requests.length).toBeGreaterThan(10);
  await clock.advance(600_000);
  expect(edges.at(-1)?.grade).toBe('live');
});

test('a trickle of bytes is no sign of life, a comment is, and so is a large frame in progress', async () => {
  const { start, clock, say, relay } = setUp();
  await start();
  for (let second = 0; second < 120; second += 30) {
    await clock.advance(30_000);
    await say(': keep-alive\n\n');
  }
  for (let second = 0; second < 300; second += 30) {
    await clock.advance(30_000);
    await say(Buffer.alloc(70_000, 'x'));
  }
  expect(relay.requests).toHaveLength(1);
  for (let second = 0; second < 90; second += 10) {
    await clock.advance(10_000);
    await say('x');
  }
  expect(relay.requests).toHaveLength(2);
});

test('our relay announces its heartbeat: a dead one is noticed sooner', async () => {
  const { start, clock, relay } = setUp({
    script: Array.from({ length: 2 }, () => ({ status: 200, headers: { 'x-svc-relay': '1; ping=10' } })),
  });
  await start();
  expect(relay.requests).toHaveLength(2);
  await clock.advance(24_000);
  expect(relay.requests).toHaveLength(2);
  await clock.advance(6000);
  expect(relay.requests).toHaveLength(3);
});

test.each([
  ['an endless frame', () => 'data: '.padEnd(10_000, 'x')],
  ['bytes that are not a stream', () => Buffer.alloc(10_000, 7)],
])('%s is bounded: the connection is closed', async (_name, text) => {
  const { start, say, mode, tunnel, clock } = setUp({ maxFrameBytes: 50_000 });
  await start();
  for (let count = 0; count < 6; count += 1) await say(text());
  expect(mode().mode).toBe('backing-off');
  expect(tunnel.stats().lastError?.why).toMatch(/more than 50000 bytes/);
  await clock.advance(250);
  expect(mode().mode).toBe('live');
});

test('after a night of sleep it connects at once, and knows when it last received something', async () => {
  const { start, clock, relay, mode, gaps, grades, edges } = setUp();
  await start();
  const heardAt = clock.now();
  await clock.advance(20_000);
  clock.sleep(8 * 3_600_000);
  await clock.advance(1000);
  expect(relay.requests).toHaveLength(2);
  expect(relay.streams[0]?.abandoned()).toBe(true);
  expect(mode().mode).toBe('live');
  expect(gaps.at(-1)).toEqual({ reason: 'reconnect', since: heardAt });
  expect(grades).toEqual(['connecting', 'live', 'connecting', 'live']);
  expect(edges.some(({ grade }) => grade === 'blind')).toBe(false);
});

test('waking up ends a long wait, too', async () => {
  const { start, clock, mode } = setUp({ script: [{ status: 429, headers: { 'retry-after': '120' } }] });
  await start();
  expect(mode().mode).toBe('backing-off');
  clock.sleep(3_600_000);
  await clock.advance(5000);
  expect(mode().mode).toBe('live');
});

test('while the log is not writable deliveries wait, the feed is degraded, and then nothing is missing', async () => {
  const { start, clock, say, answers, tunnel, received, edges } = setUp();
  await start();
  answers.push(...Array.from({ length: 12 }, () => ({ status: 503, outcome: 'log-not-writable' })));
  for (let count = 0; count < 10; count += 1) await say(delivery({ count }));
  await clock.advance(1000);
  expect(edges.at(-1)).toMatchObject({
    grade: 'degraded',
    code: 'deliveries-waiting',
    why: 'the event log is not writable',
  });
  expect(tunnel.stats()).toMatchObject({ waiting: 10, deliveries: { accepted: 0 } });
  await clock.advance(30_000);
  expect(tunnel.stats()).toMatchObject({ waiting: 0, deliveries: { accepted: 10 } });
  expect(edges.at(-1)?.grade).toBe('live');
  expect(new Set(received.map(({ body }) => body.toString())).size).toBe(10);
});

test('when too much is waiting the rest stays in the socket, and the relay is not reported as silent', async () => {
  const { start, clock, say, relay, tunnel } = setUp({
    receive: () => Promise.resolve({ status: 503, outcome: 'log-not-writable' }),
  });
  await start();
  await say(Array.from({ length: 1000 }, (_, count) => delivery({ count })).join(''));
  await say(delivery({ one: 'more' }));
  await clock.advance(600_000);
  expect(tunnel.stats().waiting).toBe(1000);
  expect(relay.requests).toHaveLength(1);
});

test('signatures that fail: counted by whether the bytes are the sender’s, and degraded after three', async () => {
  const { start, say, answers, tunnel, edges } = setUp();
  await start();
  const refused = { status: 401, outcome: 'bad-signature' };
  answers.push(refused, refused);
  await say(delivery({ a: 1 }) + delivery({ a: 2 }));
  expect(edges.at(-1)?.grade).toBe('live');
  answers.push(refused);
  await say(delivery({ a: 3 }));
  expect(edges.at(-1)).toMatchObject({ grade: 'degraded', code: 'auth-failing', why: /relay rewrites/ });
  answers.push(refused);
  await say(delivery({}, '4', { bodyB: 'e30=' }));
  expect(tunnel.stats()).toMatchObject({
    deliveries: { unauthorised: { exact: 1, reserialised: 3 } },
    unauthorisedLastHour: { exact: 1, reserialised: 3 },
  });
  await say(delivery({ a: 5 }));
  expect(edges.at(-1)?.grade).toBe('live');
});

test('frames that are not deliveries are counted and skipped', async () => {
  const { start, say, tunnel, received } = setUp();
  await start();
  await say(`data: {\n\ndata: 7\n\nevent: other\ndata: {"body":{}}\n\n${delivery({})}`);
  expect(received).toHaveLength(1);
  expect(tunnel.stats().deliveries).toMatchObject({ malformed: 2, accepted: 1 });
});

test('a genuine self-test arrives and never reaches the receiver; any other is a delivery', async () => {
  const arrived: string[] = [];
  const { start, say, tunnel, received } = setUp({
    selfTest: {
      isGenuine: ({ body }) => body.toString() === '{"genuine":true}',
      onArrival: (id) => void arrived.push(id),
    },
  });
  await start();
  await say(delivery({ genuine: true }, '1', { 'x-svc-self-test': 'test-1' }));
  await say(delivery({ forged: true }, '2', { 'x-svc-self-test': 'test-2' }));
  expect(arrived).toEqual(['test-1']);
  expect(received).toHaveLength(1);
  expect(tunnel.stats().deliveries).toMatchObject({ selfTest: 1, accepted: 1 });
});

const ours = (ready: string): ScriptedConnection => ({ status: 200, headers: { 'x-svc-relay': '1' }, ready });

test('our relay is recognised, then asked for raw bytes, and resumed after the newest position', async () => {
  const { start, say, clock, relay, received, tunnel, gaps } = setUp({
    readKey: { variable: 'READ_KEY', value: 'key', fileName: 'key' },
    subscriber: 'host-1',
    script: [ours('{}'), ours('{"position":"e.4"}'), ours('{"position":"e.6"}')],
  });
  await start();
  expect(relay.requests.map(({ url }) => url.search)).toEqual(['', '?raw=1&subscriber=host-1']);
  expect(relay.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, undefined]);
  expect(relay.requests[1]?.headers['authorization']).toBe('Bearer key');
  expect(tunnel.stats().cursor).toBe('e.4');
  await say(delivery({}, 'e.5', { bodyB: Buffer.from('{"a": 1.0}').toString('base64') }));
  expect(received[0]).toMatchObject({
    body: Buffer.from('{"a": 1.0}'),
    relay: { channel: tunnel.channelKey, id: 'e.5' },
  });
  await say(delivery({}, 'e.6', { bodyB: 'e30=' }));
  expect(tunnel.stats().cursor).toBe('e.6');
  relay.stream().end();
  await clock.advance(300);
  expect(relay.requests[2]?.headers['last-event-id']).toBe('e.6');
  expect(gaps).toEqual([{ reason: 'start', since: null }]);
});

test('on a quiet channel the position advances with the pings of our relay, after everything that is waiting', async () => {
  const { start, say, clock, relay, tunnel, answers } = setUp({
    script: [ours('{}'), ours('{"position":"e.4"}'), ours('{}')],
  });
  await start();
  await say('event: ping\ndata: {}\n\n');
  expect(tunnel.stats().cursor).toBe('e.4');
  await say('event: ping\ndata: {"position":"e.900"}\n\n');
  expect(tunnel.stats().cursor).toBe('e.900');
  answers.push({ status: 503, outcome: 'log-not-writable' });
  await say(`${delivery({}, 'e.901', { bodyB: 'e30=' })}event: ping\ndata: {"position":"e.950"}\n\n`);
  expect(tunnel.stats().cursor).toBe('e.900');
  await clock.advance(300);
  expect(tunnel.stats().cursor).toBe('e.950');
  relay.stream().end();
  await clock.advance(300);
  expect(relay.requests.at(-1)?.headers['last-event-id']).toBe('e.950');
});

test('a position in a ping is ignored if the relay does not announce the extension', async () => {
  const { start, say, tunnel } = setUp();
  await start();
  await say('event: ping\ndata: {"position":"e.900"}\n\n');
  expect(tunnel.stats().cursor).toBeNull();
});

test('with a cursor in the log a relay is treated as ours at once', async () => {
  const { start, relay, gaps, say, received } = setUp({
    cursorOf: () => 'e.9',
    script: [ours('{"position":"e.9"}')],
  });
  await start();
  expect(relay.requests).toHaveLength(1);
  expect(relay.requests[0]?.url.search).toBe('?raw=1');
  expect(relay.requests[0]?.headers['last-event-id']).toBe('e.9');
  expect(gaps).toEqual([]);
  await say('event: gap\ndata: {"requested":"e.9","oldest":"e.20"}\n\n');
  expect(gaps).toMatchObject([{ reason: 'relay-lost-it' }]);
  await say(delivery({}, 'e.20', { bodyB: 'e30=' }));
  expect(received).toHaveLength(1);
});

test('ids are ignored if the relay does not announce the extension, whatever they look like', async () => {
  const { start, say, clock, relay, received, tunnel } = setUp();
  await start();
  await say(delivery({}, 'e.5'));
  await say('event: ready\ndata: {"position":"e.9"}\n\n');
  relay.stream().end();
  await clock.advance(300);
  expect(received[0]?.relay).toBeUndefined();
  expect(tunnel.stats().cursor).toBeNull();
  expect(relay.requests[1]?.headers['last-event-id']).toBeUndefined();
});

test('a relay that is no longer ours is treated as a public one', async () => {
  const { start, clock, relay, gaps } = setUp({ cursorOf: () => 'e.9' });
  await start();
  expect(gaps).toMatchObject([{ reason: 'start' }]);
  relay.stream().end();
  await clock.advance(300);
  expect(relay.requests.map(({ url }) => url.search)).toEqual(['?raw=1', '']);
});

test('listeners that fail, and an index that cannot be read for a while, do not end it', async () => {
  let unreadable = true;
  const { start, clock, mode, tunnel } = setUp({
    cursorOf() {
      if (unreadable) throw new Error('the index is locked');
      return null;
    },
    onState() {
      throw new Error('a bug');
    },
    onGap() {
      throw new Error('a bug');
    },
  });
  await start();
  await clock.advance(30_000);
  expect(mode().mode).toBe('backing-off');
  expect(tunnel.state().grade.why).toMatch(/the index is locked/);
  expect(tunnel.stats().cursor).toBeNull();
  unreadable = false;
  await clock.advance(15_000);
  expect(mode().mode).toBe('live');
});

test('it stops in any mode, and passes on what has arrived first', async () => {
  for (const script of [['hang'], [{ status: 503 }], ['mute'], ['open']] as const) {
    const { start, tunnel, clock, mode } = setUp({ script: [...script] });
    await start();
    await tunnel.stop();
    expect(mode().mode).toBe('idle');
    expect(clock.timers()).toBe(0);
  }
  const { start, tunnel, say, received } = setUp();
  await start();
  await say(Array.from({ length: 50 }, (_, count) => delivery({ count })).join(''));
  await tunnel.stop();
  expect(received).toHaveLength(50);
});

test('after a hundred failures of every kind it is live again within seconds', async () => {
  const random = createRandom(41);
  const failures: ScriptedConnection[] = [
    ...[204, 301, 302, 400, 401, 403, 404, 418, 429, 500, 502, 503, 504].map((status) => ({ status })),
    ...['ENOTFOUND', 'ECONNREFUSED', 'ECONNRESET', 'CERT_HAS_EXPIRED', 'EAI_AGAIN'].map((code) =>
      Object.assign(new Error(code), { code }),
    ),
    { status: 200, headers: { 'content-type': 'text/html' } },
    'hang',
    'mute',
    'open',
  ];
  const script = Array.from({ length: 100 }, () => random.pick(failures));
  const { start, clock, relay, grades, mode } = setUp({ script, random: random.next });
  await start();
  for (let round = 0; relay.requests.length < 100; round += 1) {
    expect(round).toBeLessThan(5000);
    await clock.advance(1000);
    if (mode().mode === 'live') {
      relay.stream().say(random.pick(['data: {\n\n', 'event: ping\n\n', '\uFEFF', 'data: x']));
      if (random.chance(0.5)) relay.stream().end();
      else relay.stream().fail(new Error('cut'));
      await clock.settle();
    }
  }
  await clock.advance(120_000);
  expect(mode().mode).toBe('live');
  expect(grades).toContain('blind');
  expect(grades.at(-1)).not.toBe('blind');
});
