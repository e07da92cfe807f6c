import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, WAIT_MS } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { EventLine } from '../../../kernel/log/event-line.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import { LogNotWritable } from '../../../kernel/log/log-entry.ts';
import { createSelfCheck } from './self-check.ts';

const line = { seq: 7, id: 'event-7', ts: '2026-01-02T03:04:05.678Z' } as EventLine;
const found = { entries: [{ line }], next: null, indexedTo: 7 };

function checkOf(given: {
  append?: EventLog['append'];
  list?: () => Promise<unknown>;
  inFile?: boolean;
  answer?: () => Promise<Response>;
  timeoutMs?: number;
}) {
  const eventsDir = join(temporaryFolder(), 'events');
  mkdirSync(eventsDir);
  writeFileSync(
    join(eventsDir, '2026-01.jsonl'),
    given.inFile === false ? '' : `{"seq":7,"id":"${line.id}"}\n`,
  );
  const secret = { variables: ['SECRET'], values: ['hush'] };
  const sent: Request[] = [];
  const check = createSelfCheck({
    configs: () => [],
    environment: {},
    eventsDir,
    log: {
      append: given.append ?? (() => Promise.resolve(line)),
      list: (given.list ?? (() => Promise.resolve(found))) as EventLog['list'],
    },
    secrets: () => ({ codehost: secret, tracker: { variables: ['OTHER'], values: [] } }),
    url: () => 'http://127.0.0.1:1',
    fetch: (url, init) => {
      sent.push(new Request(url, init));
      return given.answer?.() ?? Promise.resolve(new Response('{}'));
    },
    timeoutMs: given.timeoutMs ?? WAIT_MS,
  });
  return { check, sent };
}

test('a line is written and found, a signed delivery is accepted, and a feed without a secret is skipped', async () => {
  const { check, sent } = checkOf({});
  expect(await check('ann')).toMatchObject({
    log: { ok: true, seq: 7 },
    receivers: [
      { feed: 'codehost', ok: true },
      { feed: 'tracker', ok: false, disabled: true, why: 'no secret: OTHER not set' },
    ],
    providers: { enabled: false },
  });
  expect(sent.map(({ url }) => url)).toEqual(['http://127.0.0.1:1/api/webhook']);
  expect(sent[0]?.headers.get('x-hub-signature-256')).toMatch(/^sha256=[0-9a-f]{64}$/);
});

test.each([
  ['write', 'disk full', { append: () => Promise.reject(new LogNotWritable('disk full')) }],
  ['write', 'not finish within', { append: () => new Promise<EventLine>(() => undefined), timeoutMs: 60 }],
  [
    'index',
    'was not found within',
    { list: () => Promise.resolve({ ...found, entries: [] }), timeoutMs: 200 },
  ],
  ['index', 'damaged', { list: () => Promise.reject(new Error('damaged')) }],
  ['file', 'not at the end of its file', { inFile: false }],
])('the log fails at %s: %s', async (step, why, given) => {
  const { log } = await checkOf(given).check(undefined);
  expect(log).toMatchObject({
    ok: false,
    step,
    why: expect.stringContaining(why),
    remedy: expect.any(String),
  });
});

test.each([
  ['it answered 401', () => Promise.resolve(new Response('{}', { status: 401 }))],
  ['refused', () => Promise.reject(new Error('refused'))],
  ['did not finish within', () => new Promise<Response>(() => undefined)],
])('the receiver fails: %s', async (why, answer) => {
  const { receivers } = await checkOf({ answer, timeoutMs: 100 }).check(undefined);
  expect(receivers[0]).toMatchObject({ ok: false, disabled: false, why: expect.stringContaining(why) });
  expect(JSON.stringify(receivers)).not.toContain('hush');
});
