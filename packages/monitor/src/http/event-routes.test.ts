// The routes of events over a real log: counts over time, and jq filters of the list and of the stream.
import { get as httpGet } from 'node:http';
import type { EventLine } from '@svc/core';
import { temporaryFolder, until, WAIT_MS } from '@svc/testkit';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createJqThreads, type JqThreads } from '../log/jq-threads.ts';
import { createTestClock, draft, openTestLog, START } from '../log/testing/sample-log.ts';
import { eventRoutes } from './event-routes.ts';
import { createHttpServer } from './server.ts';
import { answersEverybody } from './testing/answers-everybody.ts';

async function serve(lines: number) {
  const clock = createTestClock();
  const log = openTestLog(temporaryFolder(), { clock });
  const jq = jqThreads();
  const server = createHttpServer({
    logger: pino({ level: 'silent' }),
    access: answersEverybody,
    show: () => false,
    onAnswer: () => undefined,
    routes: [eventRoutes({ log, jq, now: () => clock.time })],
  });
  onTestFinished(async () => {
    await server.close();
    await log.close();
  });
  const append = (number: number) =>
    log.append(
      draft({
        event: number % 2 === 0 ? 'codehost.push' : 'tracker.issue.created',
        scope: { ticket: `ENG-${number % 3}` },
        detail: { number },
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
  return { get, url, append };
}

const ENDLESS = 'def f: f; f';

/** Patient, but not with what never ends. */
function jqThreads(): Pick<JqThreads, 'matches'> {
  const patient = createJqThreads({ answerWithinMs: WAIT_MS });
  const impatient = createJqThreads({ answerWithinMs: 200 });
  onTestFinished(async () => {
    await patient.close();
    await impatient.close();
  });
  return {
    matches(filter, lines) {
      const isEndless = filter === ENDLESS || (filter.includes(ENDLESS) && lines.length > 0);
      return (isEndless ? impatient : patient).matches(filter, lines);
    },
  };
}

/** A page ends after two seconds, which a slow machine may need; here no time passes. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

const jq = (filter: string): string => `filter=${encodeURIComponent(filter)}`;
const numbers = (body: Record<string, unknown>): unknown[] =>
  (body['events'] as EventLine[]).map(({ detail }) => detail['number']);

describe('GET /api/events with a jq filter', () => {
  test('the newest that it wants, page by page', async () => {
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
    ['.event ==', 'usage', 'The jq filter cannot be used'],
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

/** Everything that the stream sends until it has sent what is waited for. */
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
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
  });
}

describe('GET /api/events/stream with a jq filter', () => {
  test('only what it wants, of the past and live', async () => {
    const { url, append } = await serve(10);
    const path = `${url}/api/events/stream?since=0&${jq('.detail.number % 5 == 0')}`;
    const all = stream(path, (text) => text.includes('"number":15'));
    for (let number = 11; number <= 15; number += 1) await append(number);
    expect([...(await all).matchAll(/^id: (\d+)$/gm)].map(([, id]) => id)).toEqual(['5', '10', '15']);
  });

  test('it tells how far it is where it wants nothing', async () => {
    const { url } = await serve(2_500);
    const text = await stream(`${url}/api/events/stream?since=0&${jq('false')}`, (sent) =>
      sent.includes('seen'),
    );
    const [, id] = /^event: seen\nid: (\d+)$/m.exec(text) ?? [];
    expect(Number(id)).toBeGreaterThanOrEqual(1_000);
    expect(text).not.toContain('"number"');
  });

  test('a filter that comes to hang on a line ends the stream with the reason', async () => {
    const { url, append } = await serve(1);
    await append(2);
    const filter = jq(`if .detail.number == 2 then (${ENDLESS}) else true end`);
    const all = stream(`${url}/api/events/stream?since=1&${filter}`, () => false);
    expect(await all).toContain('event: filter-failed\ndata: {"error":"The jq filter takes too long."');
  });
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
    ['since=1h&until=2h', 'since: expected a moment before until.'],
    ['filter=true', 'There is no "filter"'],
    ['event=nothing.at.all', 'No event can have the topic'],
  ])('%s is refused', async (query, error) => {
    const { get } = await serve(1);
    const { status, body } = await get(`/api/events/counts?${query}`);
    expect(status).toBe(400);
    expect(body['error']).toContain(error);
  });
});
