// The kit against a relay with an engine in memory: every row passes, and every row fails at a server with the fault
// that it checks. And the page of the protocol has a clause for every row, and a row for every clause.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WAIT_MS } from '@svc/testkit';
import { expect, test } from 'vitest';
import { hashOfKey } from '../http/read-access.ts';
import { relayForTest } from '../http/testing/relay-for-test.ts';
import { createLimits } from '../limits/limits.ts';
import { type Result, type Row, runRows } from './kit.ts';
import { rows } from './rows.ts';
import { type Fault, type Passing, startWrongServer } from './testing/wrong-server.ts';
import { bodies } from './wire.ts';

const CREATE_KEY = 'the-key-of-the-operator';

/** A new relay behind a server with this fault. */
async function check(chosen: readonly Row[], fault: Omit<Fault, 'shows'> = {}): Promise<Result[]> {
  const plenty = { perSecond: 1e9, burst: 1e9 };
  const limits = createLimits({
    channel: { perSecond: 1, burst: 400 },
    channelBytes: plenty,
    address: plenty,
    addressBytes: plenty,
    newChannels: plenty,
    subscribersPerChannel: 1000,
    subscribersPerAddress: 1000,
    subscribers: 1000,
  });
  const settings = { openChannels: true, pingSeconds: 1, createKeyHash: hashOfKey(CREATE_KEY) };
  const relay = await relayForTest({ settings, limits, roomBytes: 1e9 });
  const base = await startWrongServer(relay.url, fault);
  return runRows(chosen, { base, createKey: CREATE_KEY, waitMs: WAIT_MS });
}

const isDelivery = (frame: string): boolean => frame.startsWith('id: ') && !frame.includes('\nevent:');
const isPostTo = ({ method, url }: Passing): boolean => method === 'POST' && !url.startsWith('/new');
const insert = (text: string) => () => (frame: string) =>
  isDelivery(frame) ? frame.replace('data: {', `data: {${text},`) : frame;
const replaced = (from: string | RegExp, to: string) => () => (frame: string) => frame.replace(from, to);
const without =
  (name: string, value = '[^&]*') =>
  (passing: Passing): void => {
    passing.url = passing.url.replace(new RegExp(`\\b${name}=${value}`), '');
  };
const forgetPosition = ({ headers }: Passing): void => void delete headers['last-event-id'];

function rewriteBody(frame: string): string {
  const bytes = /"bodyB":"([^"]*)"/.exec(frame)?.[1] ?? '';
  try {
    const written = JSON.stringify(JSON.parse(Buffer.from(bytes, 'base64').toString()));
    return frame.replace(`"bodyB":"${bytes}"`, `"bodyB":"${Buffer.from(written).toString('base64')}"`);
  } catch {
    return frame;
  }
}

/** The second of two deliveries comes first. A ping between them stays where it is. */
function swap(): (frame: string) => string {
  let held = '';
  return (frame) => {
    if (!isDelivery(frame)) return frame;
    if (held !== '') {
      const both = `${frame}\n\n${held}`;
      held = '';
      return both;
    }
    if (!frame.includes('"number":10}')) return frame;
    held = frame;
    return '';
  };
}

const keys = new Map<string, string>();
let lastBody = '';

const faults: Record<string, Fault> = {
  'P1.1': {
    shows: 'was answered 200',
    answer(answered, { url }) {
      if (url === '/not.a.channel') answered.status = 200;
    },
  },
  'P1.2': {
    shows: 'GET /new was answered 302',
    answer(answered) {
      if (answered.status === 307) answered.status = 302;
    },
  },
  'P1.3': {
    shows: 'writeUrl is not the address',
    answer(answered) {
      answered.body = answered.body.replace(/"writeUrl":"[^"]*/, '"writeUrl":"http://127.0.0.1/another');
    },
  },
  'P1.4': {
    shows: 'readKey is not null',
    answer(answered) {
      answered.body = answered.body.replace('"readKey":null', '"readKey":"0123456789abcdef"');
    },
  },
  'P1.5': {
    shows: 'answered 422',
    answer(answered) {
      if (answered.status === 400) answered.status = 422;
    },
  },
  'P1.6': {
    shows: 'answered 200 instead of 404',
    answer(answered) {
      if (answered.status === 404) answered.status = 200;
    },
  },
  'P1.7': {
    shows: 'answered 201 instead of 401',
    request({ url, headers }) {
      if (url === '/new') headers.authorization = `Bearer ${CREATE_KEY}`;
    },
  },
  'P2.1': {
    shows: '1 MiB was answered 413',
    answer(answered, { body }) {
      if (body.length > 1_000_000) answered.status = 413;
    },
  },
  'P2.2': { shows: 'lower case', frames: replaced('"x-mixed-case"', '"X-Mixed-Case"') },
  'P2.3': { shows: 'a part of a body', takesTorn: true },
  'P2.4': {
    shows: 'PUT of a channel was answered 200',
    answer(answered, { method }) {
      if (method === 'PUT') answered.status = 200;
    },
  },
  'P2.5': { shows: '23 of 40 byte for byte', frames: () => rewriteBody },
  'P2.6': { shows: 'written again', frames: replaced('"a":1.0', '"a":1') },
  'P2.7': { shows: 'these travelled: cookie', frames: insert('"cookie":"a=b"') },
  'P2.8': { shows: 'taken from a header: bodyb', frames: insert('"bodyb":"no"') },
  'P2.9': {
    shows: 'no position',
    answer(answered) {
      answered.body = answered.body.replace(/"id":"[^"]*"/, '"id":"17"');
    },
  },
  'P2.10': {
    shows: 'delivered 2 times',
    request: ({ headers }) => void delete headers['x-github-delivery'],
  },
  'P2.11': { shows: '9,000 characters travelled', frames: insert('"x-conform-long":"x"') },
  'P2.14': {
    shows: '1 of 3 deliveries were dropped',
    frames: () => (frame) => (frame.includes('"number":2}') ? '' : frame),
  },
  'P3.1': { shows: 'the first frame is hello', frames: replaced('event: ready', 'event: hello') },
  'P3.2': {
    shows: 'shows a delivery',
    answer(answered, passing) {
      if (isPostTo(passing)) lastBody = passing.body.toString();
      if (answered.headers['content-type']?.startsWith('text/html') === true) answered.body += lastBody;
    },
  },
  'P3.3': {
    shows: 'event line delivery',
    frames: () => (frame) => (isDelivery(frame) ? `event: delivery\n${frame}` : frame),
  },
  'P3.4': {
    shows: '1 of 5 lost',
    frames:
      ({ streams }) =>
      (frame) =>
        streams === 3 && frame.includes('"number":4}') ? '' : frame,
  },
  'P3.5': { shows: 'out of order', frames: swap },
  'P3.6': {
    shows: '0 of 48 posts were taken',
    answer(answered, { body }) {
      if (body.length > 500_000) answered.status = 500;
    },
  },
  'P3.7': {
    shows: 'ping is not a JSON',
    frames: replaced('event: ping\ndata: {}', 'event: ping\ndata: pong'),
  },
  'P3.8': {
    shows: 'X-Svc-Relay is 2',
    answer({ headers }) {
      if (headers['x-svc-relay'] !== undefined) headers['x-svc-relay'] = '2';
    },
  },
  'P3.9': { shows: 'ready has no position', frames: replaced(/\{"position":"[^"]*"\}/, '{}') },
  'P3.10': { shows: 'ready has an id', frames: replaced('event: ready', 'id: 5\nevent: ready') },
  'P3.11': {
    shows: '1 of 48 lost',
    frames:
      ({ streams }) =>
      (frame) =>
        streams === 2 && frame.includes('"number":40,') ? '' : frame,
  },
  'P4.1': { shows: 'is no position', frames: replaced(/^id: .*\./, 'id: ') },
  'P4.2': { shows: '15 of 16 lost', request: forgetPosition },
  'P4.3': { shows: 'lost in 5 cuts', request: forgetPosition },
  'P4.4': { shows: '?since=oldest 4 of 5 lost', request: without('since', 'oldest') },
  'P4.5': {
    shows: 'no gap was reported',
    frames: () => (frame) => (frame.startsWith('event: gap') ? '' : frame),
  },
  'P4.6': {
    shows: '1 too many',
    request({ headers }) {
      if (headers['last-event-id'] === '17') headers['last-event-id'] = 'another.17';
    },
  },
  'P4.7': {
    shows: '3 too many',
    request(passing) {
      if (passing.streams === 3) passing.url += 'x&since=oldest';
    },
  },
  'P4.8': {
    shows: '1 too many',
    request(passing) {
      if (passing.url.includes('/cursor')) without('position')(passing);
    },
    answer(answered, { url }) {
      if (url.includes('/cursor')) answered.status = 204;
    },
  },
  'P4.9': { shows: 'answered 200 instead of 400', request: without('since') },
  'P5.1': {
    shows: 'answered 200 instead of 401',
    answer(answered) {
      const made = /"channel":"([^"]*)".*"readKey":"([^"]*)"/.exec(answered.body);
      if (made !== null) keys.set(made[1] ?? '', made[2] ?? '');
    },
    request({ url, headers }) {
      const key = keys.get(url.slice(1));
      if (key !== undefined) headers.authorization = `Bearer ${key}`;
    },
  },
  'P5.2': {
    shows: 'answered 200 instead of 401',
    request({ url, headers }) {
      const key = /[?&]key=(.*)/.exec(url)?.[1];
      if (key !== undefined) headers.authorization = `Bearer ${key}`;
    },
  },
  'P6.1': {
    shows: 'a 404 has no error and code',
    answer(answered) {
      if (answered.status >= 400) answered.body = 'no';
    },
  },
  'P6.2': {
    shows: 'answered 400 instead of 413',
    answer(answered) {
      if (answered.status === 413) answered.status = 400;
    },
  },
  'P6.3': {
    shows: 'Retry-After is undefined',
    answer: ({ headers }) => void delete headers['retry-after'],
  },
  'P7.1': { shows: '10 of 11 lost', request: without('since') },
  'P7.2': {
    shows: 'another id for another reader',
    frames:
      ({ url }) =>
      (frame) =>
        url.includes('raw=1') && isDelivery(frame) ? frame.replace('\n', '0\n') : frame,
  },
  'P8.1': {
    shows: 'lag is 0 instead of 3',
    answer(answered) {
      answered.body = answered.body.replace('"lag":3', '"lag":0');
    },
  },
};

test(`${rows.length} rows pass at a server that follows the protocol`, async () => {
  const results = await check(rows);
  const others = results.filter(({ outcome }) => outcome !== 'pass');
  expect(others.map(({ row, outcome, detail }) => [row.id, outcome, detail])).toEqual([]);
});

test('there is a wrong server for every row, and there are 40 bodies', () => {
  expect(Object.keys(faults)).toEqual(rows.map(({ id }) => id));
  expect(bodies).toHaveLength(40);
});

test.each(rows.map((row) => [row.id, row.text, row] as const))(
  '%s fails at a server with its fault: %s',
  async (id, _text, row) => {
    const fault = faults[id];
    if (fault === undefined) throw new Error(`no fault for ${id}`);
    const [result] = await check([row], fault);
    expect([result?.outcome, result?.detail]).toEqual(['fail', expect.stringContaining(fault.shows)]);
  },
);

const page = readFileSync(join(import.meta.dirname, '../../../../docs/relay/protocol.md'), 'utf8');
const clauses = [...page.matchAll(/^\| (P\d+\.\d+) \| (public|extension) \| .+ \| (row|no: .+) \|$/gm)].map(
  ([, id, part, checked]) => ({ id, part, checked }),
);

test('every clause of the page is checked by its row, or states why it cannot be', () => {
  const checked = clauses.filter((clause) => clause.checked === 'row');
  expect(checked.map(({ id, part }) => [id, part])).toEqual(rows.map(({ id, part }) => [id, part]));
  const ids = clauses.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  // Every number on the page must be in the table: a line in another form would not be found as a clause.
  const named = new Set([...page.matchAll(/P\d+\.\d+/g)].map(([id]) => id));
  expect([...named].filter((id) => !ids.includes(id))).toEqual([]);
});

test('the published results have every row', () => {
  const results = page.slice(page.indexOf('## Results'));
  for (const { id, text } of rows) expect(results).toContain(`| ${id} | ${text} | pass`);
});
