// The event routes over a real log: counts over time, and jq filters for the list and the stream.

import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { get as httpGet } from 'node:http';
import { connect } from 'node:net';
import { temporaryFolder, until, WAIT_MS } from '@svc/testkit';
import { pino } from 'pino';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createHttpServer } from '../../kernel/http/server.ts';
import { allowEveryone } from '../../kernel/http/testing/allow-everyone.ts';
import type { EventLine } from '../../kernel/log/event-line.ts';
import { createJqThreads, type JqThreads } from '../../kernel/log/jq-threads.ts';
import { createTestClock, draft, openTestLog, START } from '../../kernel/log/testing/sample-log.ts';
import { topics } from '../topics.ts';
import { eventRoutes } from './routes.ts';

async function serve(lines: number, more: { maxUnsentBytes?: number } = {}) {
  const clock = createTestClock();
  const log = openTestLog(temporaryFolder(), { clock });
  const server = createHttpServer({
    logger: pino({ level: 'silent' }),
    access: allowEveryone,
    show: () => false,
    onAnswer: () => undefined,
    routes: [eventRoutes({ log, jq: threads, now: () => clock.time, ...more })],
  });
  onTestFinished(async () => {
    await server.close();
    await log.close();
  });
  const append = (number: number, text?: string) =>
    log.append(
      draft({
        event: number % 2 === 0 ? 'codehost.push' : 'tracker.issue.created',
        scope: { ticket: `ENG-${number % 3}` },
        detail: { number, ...(text !== undefined && { text }) },
      }),
    );
  await Promise.all(Array.from({ length: lines }, (_, index) => append(index + 1)));
  await until(() => log.stats().indexedTo === lines);
  clock.time += 3_600_000;
  const url = `http://127.0.0.1:${await server.listen(0)}`;
  const get = async (path: string) => {
    const response = await fetch(url + path);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return { get, url, append, log };
}

const ENDLESS = 'def f: f; f';

/** Enough time for every filter that ends. */
const slow = createJqThreads({ topics, answerWithinMs: WAIT_MS });
const quick = createJqThreads({ topics, answerWithinMs: 200 });
afterAll(async () => {
  await slow.close();
  await quick.close();
});
const threads: Pick<JqThreads, 'matches'> = {
  matches(filter, lines) {
    const isEndless = filter === ENDLESS || (filter.includes(ENDLESS) && lines.length > 0);
    return (isEndless ? quick : slow).matches(filter, lines);
  },
};

/** A page ends after two seconds, which a slow machine may need; here no time passes. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

const jq = (filter: string): string => `filter=${encodeURIComponent(filter)}`;
const numbers = (body: Record<string, unknown>): unknown[] =>
  (body['events'] as EventLine[]).map(({ detail }) => detail['number']);

describe('GET /api/events with a jq filter', () => {
  test('the newest matches, page by page', async () => {
    const { get } = await serve(700);
    stopTime();
    const wanted = jq('.detail.number % 100 == 0');
    const first = await get(`/api/events?limit=3&${wanted}`);
    expect(numbers(first.body)).toEqual([700, 600, 500]);
    const next = first.body['next'] as number;
    expect(next).not.toBeNull();
    const second = await get(`/api/events?limit=50&until=${next}&${wanted}`);
    expect(numbers(second.body)).toEqual([400, 300, 200, 100]);
    expect(second.body).toMatchObject({ next: null });
    const oldest = await get(`/api/events?limit=2&order=oldest-first&since=100&${wanted}`);
    expect(numbers(oldest.body)).toEqual([200, 300]);
  });

  test('plain conditions come first', async () => {
    const { get } = await serve(60);
    stopTime();
    const { body } = await get(`/api/events?ticket=ENG-0&event=codehost.*&${jq('.detail.number > 40')}`);
    expect(numbers(body)).toEqual([60, 54, 48, 42]);
    expect(body).toMatchObject({ scanned: 10, next: null });
  });

  test.each([
    ['.event ==', 'usage', 'The jq filter is not valid'],
    ['.event == "codehost.pr.megred"', 'usage', 'No event can have the topic codehost.pr.megred'],
    [ENDLESS, 'filter-too-slow', 'The jq filter takes too long.'],
  ])('%s is refused', async (filter, code, message) => {
    const { get } = await serve(3);
    for (const path of ['/api/events', '/api/events/stream']) {
      const { status, body } = await get(`${path}?${jq(filter)}`);
      expect([status, body['code']]).toEqual([400, code]);
      expect(body['error']).toContain(message);
    }
    expect((await get('/api/events')).status).toBe(200);
  });
});

/** Everything that the stream sends until it has sent the expected text. */
function stream(url: string, isEnough: (text: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = httpGet(url, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (!isEnough(text)) return;
        sent.destroy();
        resolve(text);
      });
      response.on('close', () => resolve(text));
    });
    sent.on('error', reject);
  });
}

describe('GET /api/events/stream with a jq filter', () => {
  test('only matches, past and live', async () => {
    const { url, append } = await serve(10);
    const path = `${url}/api/events/stream?since=0&${jq('.detail.number % 5 == 0')}`;
    const all = stream(path, (text) => text.includes('"number":15'));
    for (let number = 11; number <= 15; number += 1) await append(number);
    expect([...(await all).matchAll(/^id: (\d+)$/gm)].map(([, id]) => id)).toEqual(['5', '10', '15']);
  });

  test('it sends its position when nothing matches', async () => {
    const { url } = await serve(2_500);
    const text = await stream(`${url}/api/events/stream?since=0&${jq('false')}`, (sent) =>
      sent.includes('position'),
    );
    const [, id] = /^event: position\nid: (\d+)$/m.exec(text) ?? [];
    expect(Number(id)).toBeGreaterThanOrEqual(1_000);
    expect(text).not.toContain('"number"');
  });

  test('a filter that hangs on an event ends the stream with the reason', async () => {
    const { url, append } = await serve(1);
    await append(2);
    const filter = jq(`if .detail.number == 2 then (${ENDLESS}) else true end`);
    const all = stream(`${url}/api/events/stream?since=1&${filter}`, () => false);
    expect(await all).toContain('event: filter-failed\ndata: {"error":"The jq filter takes too long."');
  });
});

const MIB = 1024 * 1024;
const LONG = 'x'.repeat(60_000);

/** A client that reads only the start of its response until the test lets it continue. */
async function stuckClient(url: string, path: string) {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  const parts: string[] = [];
  const started = new Promise((resolve) => socket.once('data', resolve));
  socket.on('data', (part) => {
    parts.push(String(part));
    socket.pause();
  });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
  await started;
  return {
    close: () => socket.destroy(),
    /** Reads on until the last bytes are enough or the connection ends; returns everything. */
    readOn: async (isEnough: (lastBytes: string) => boolean = () => false): Promise<string> => {
      const isDone = (): boolean => isEnough(parts.slice(-2).join(''));
      await new Promise<void>((resolve) => {
        socket.removeAllListeners('data').on('data', (part) => {
          parts.push(String(part));
          if (isDone()) resolve();
        });
        socket.on('close', () => resolve());
        if (isDone()) resolve();
        socket.resume();
      });
      return parts.join('');
    },
  };
}

const ids = (text: string): number[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

describe('clients that do not read', () => {
  test('streams: those that hold most are cut off, the others get every line, and the slots are free again', async () => {
    const { url, append, log } = await serve(1, { maxUnsentBytes: 2 * MIB });
    const readers = log.stats().tailReaders;
    await Promise.all(Array.from({ length: 120 }, (_, index) => append(index + 2, LONG)));
    const isComplete = (text: string): boolean => text.includes('\nid: 121\n');
    const path = '/api/events/stream?since=0';
    const greedy = await Promise.all(Array.from({ length: 15 }, () => stuckClient(url, path)));
    const fair = await stuckClient(url, path);
    expect(ids(await fair.readOn(isComplete))).toHaveLength(121);
    const stuckReaders = (): number => log.stats().tailReaders - readers;
    const left = await until(() => stuckReaders() * 250_000 < 2.5 * MIB && stuckReaders());
    // A client that does not read at all is dropped after half a minute: these were not all of them.
    expect(left).toBeGreaterThan(1);
    const got = await Promise.all(greedy.map((client) => client.readOn(isComplete)));
    const complete = got.filter(isComplete);
    expect(complete.length).toBeGreaterThan(0);
    expect(complete.length).toBeLessThan(greedy.length);
    for (const text of complete) expect(ids(text)).toHaveLength(121);
    for (const client of [fair, ...greedy]) client.close();
    await until(() => log.stats().tailReaders === readers);
  });

  test('a client that leaves before its stream starts, or while it is written, leaves nothing open', async () => {
    const { url, get, append, log } = await serve(1);
    await Promise.all(Array.from({ length: 60 }, (_, index) => append(index + 2, LONG)));
    const readers = log.stats().tailReaders;
    const openFiles = (): number =>
      readdirSync('/proc/self/fd').filter((handle) => {
        const link = `/proc/self/fd/${handle}`;
        return existsSync(link) && readlinkSync(link).endsWith('.jsonl');
      }).length;
    await get('/api/events?limit=1');
    const files = openFiles();
    for (const leave of ['before', 'while'] as const) {
      const query = leave === 'before' ? `since=1h&${jq('true')}` : 'since=0';
      for (let turn = 0; turn < 40; turn += 1) {
        const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
        const written = new Promise((resolve) =>
          socket.write(`GET /api/events/stream?${query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, resolve),
        );
        await (leave === 'before' ? written : new Promise((resolve) => socket.once('data', resolve)));
        socket.on('error', () => undefined).destroy();
      }
    }
    await get(`/api/events?limit=1&${jq('true')}`);
    await until(() => log.stats().tailReaders === readers && openFiles() === files);
  });

  test('no more than 200 streams, even when all start at once', async () => {
    const { url, log } = await serve(1);
    const readers = log.stats().tailReaders;
    const clients = await Promise.all(
      Array.from({ length: 230 }, () => stuckClient(url, '/api/events/stream?since=1h')),
    );
    const answers = await Promise.all(
      clients.map((client) =>
        client.readOn((text) => text.includes('event: ready') || text.includes('busy')),
      ),
    );
    expect(answers.filter((text) => text.startsWith('HTTP/1.1 200'))).toHaveLength(200);
    expect(answers.filter((text) => text.startsWith('HTTP/1.1 503'))).toHaveLength(30);
    for (const client of clients) client.close();
    await until(() => log.stats().tailReaders === readers);
    const again = await stuckClient(url, '/api/events/stream');
    expect(await again.readOn((text) => text.includes('event: ready'))).toContain('HTTP/1.1 200');
  });

  test('other responses: beyond the limit some are cut off, and clients that read are answered', async () => {
    const { url, append, get, log } = await serve(1);
    await Promise.all(Array.from({ length: 80 }, (_, index) => append(index + 2, LONG)));
    await until(() => log.stats().indexedTo === 81);
    const clients = await Promise.all(
      Array.from({ length: 30 }, () => stuckClient(url, '/api/events?limit=100')),
    );
    // A client that was cut off asks again.
    await until(async () => (await get('/api/events?limit=100')).status === 200);
    const answers = await Promise.all(clients.map((client) => client.readOn()));
    const whole = answers.filter((text) => text.endsWith('}'));
    expect(whole.length).toBeGreaterThan(0);
    expect(whole.length).toBeLessThan(answers.length);
    const { body } = await get('/api/events?limit=100');
    expect(numbers(body)[0]).toBe(81);
  });
});

test('a page of long lines ends before its limit, and reports where to continue', async () => {
  const { get, append, log } = await serve(1);
  await Promise.all(Array.from({ length: 150 }, (_, index) => append(index + 2, LONG)));
  await until(() => log.stats().indexedTo === 151);
  stopTime();
  for (const filter of ['', `&${jq('true')}`]) {
    const found: unknown[] = [];
    let pages = 0;
    for (let next: number | null = 1e9; next !== null; pages += 1) {
      const { body } = await get(`/api/events?limit=1000&until=${next}${filter}`);
      expect(JSON.stringify(body).length).toBeLessThan(4.5 * MIB);
      found.push(...numbers(body));
      next = body['next'] as number | null;
    }
    expect(pages).toBeGreaterThan(1);
    expect(found).toEqual(Array.from({ length: 151 }, (_, index) => 151 - index));
  }
});

describe('GET /api/events/counts', () => {
  test('over the last day, by family', async () => {
    const { get } = await serve(100);
    const { body } = await get('/api/events/counts?buckets=24');
    expect(body).toMatchObject({ total: 100, bucketMs: 3_600_000, complete: true, indexedTo: 100 });
    const buckets = body['buckets'] as { at: string; count: number; families: object }[];
    expect(buckets).toHaveLength(24);
    expect(buckets.filter(({ count }) => count > 0)).toEqual([
      { at: new Date(START).toISOString(), count: 100, families: { codehost: 50, tracker: 50 } },
    ]);
  });

  test('with the conditions of the list', async () => {
    const { get } = await serve(90);
    expect((await get('/api/events/counts?ticket=eng-1')).body).toMatchObject({ total: 30 });
    expect((await get('/api/events/counts?event=tracker.*&since=2d')).body).toMatchObject({ total: 45 });
    expect((await get('/api/events/counts?since=30&until=41')).body).toMatchObject({ total: 10 });
    expect((await get('/api/events/counts?since=30m')).body).toMatchObject({ total: 0 });
  });

  test.each([
    ['buckets=201', 'buckets: expected a whole number from 1 to 200.'],
    ['buckets=0', 'buckets: expected a whole number from 1 to 200.'],
    ['since=1h&until=2h', 'since: expected a time before until.'],
    ['filter=true', 'Unknown field "filter"'],
    ['event=nothing.at.all', 'No event can have the topic'],
  ])('%s is refused', async (query, error) => {
    const { get } = await serve(1);
    const { status, body } = await get(`/api/events/counts?${query}`);
    expect(status).toBe(400);
    expect(body['error']).toContain(error);
  });
});
