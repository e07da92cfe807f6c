import { expect, onTestFinished, test } from 'vitest';
import { WAIT_MS } from '../waiting.ts';
import { type HostileOptions, type HostileRelay, startHostileRelay } from './hostile-relay.ts';

async function relay(options?: HostileOptions): Promise<HostileRelay> {
  const started = await startHostileRelay(options);
  onTestFinished(() => started.stop());
  return started;
}

/** What one subscriber receives, as text. */
async function listen(url: string, headers: Record<string, string> = {}) {
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  });
  const heard = { text: '', ended: false, response };
  void (async () => {
    try {
      for await (const chunk of response.body ?? []) heard.text += Buffer.from(chunk).toString();
    } catch {
      // Cut off, as the test wants.
    }
    heard.ended = true;
  })();
  return heard;
}

let sent = 0;
async function post(channel: string, body = '{"a":1,"b":2}'): Promise<string> {
  sent += 1;
  const id = `00000000-0000-4000-8000-${String(sent).padStart(12, '0')}`;
  const headers = { 'content-type': 'application/json', 'x-github-delivery': id };
  expect((await fetch(channel, { method: 'POST', body, headers })).status).toBe(200);
  return id;
}

const bodies = (text: string): string[] =>
  [...text.matchAll(/"body":(\{.*?\})/g)].map((match) => match[1] ?? '');
const idLines = (text: string): string[] => [...text.matchAll(/^id: (.*)$/gm)].map((match) => match[1] ?? '');

test('without faults it is the public relay with a record', async () => {
  const hostile = await relay();
  const channel = hostile.newChannel();
  const heard = await listen(channel);
  const id = await post(channel);
  await expect.poll(() => bodies(heard.text)).toEqual(['{"a":1,"b":2}']);
  expect(idLines(heard.text)).toEqual(['0', '1']);
  const name = new URL(channel).pathname.slice(1);
  expect(hostile.sent).toEqual([{ channel: name, deliveryId: id }]);
  await expect
    .poll(() => hostile.delivered)
    .toEqual([{ channel: name, deliveryId: id, subscriber: 1, id: '1' }]);
});

test('it drops, duplicates, reorders and rewrites', async () => {
  const hostile = await relay({ heldMs: 10 * WAIT_MS });
  const channel = hostile.newChannel();
  const heard = await listen(channel);
  hostile.faults.drop = 1;
  await post(channel, '{"n":1}');
  Object.assign(hostile.faults, { drop: 0, duplicate: 1 });
  await post(channel, '{"n":2}');
  Object.assign(hostile.faults, { duplicate: 0, reorder: 1 });
  await post(channel, '{"n":3}');
  await post(channel, '{"n":4}');
  Object.assign(hostile.faults, { reorder: 0, rewrite: 1 });
  await post(channel, '{"n":5,"m":6}');
  await expect
    .poll(() => bodies(heard.text))
    .toEqual(['{"n":2}', '{"n":2}', '{"n":4}', '{"n":3}', '{"m":6,"n":5}']);
});

test('the last of a reordered series still arrives', async () => {
  const hostile = await relay({ faults: { reorder: 1 }, heldMs: 10 });
  const channel = hostile.newChannel();
  const heard = await listen(channel);
  await post(channel);
  await expect.poll(() => bodies(heard.text)).toHaveLength(1);
});

test('it writes streams in every form', async () => {
  const hostile = await relay({
    faults: { lineEnd: '\r\n', byteOrderMark: true, comment: 1, split: 1, pretty: 1 },
  });
  const channel = hostile.newChannel();
  const heard = await listen(channel);
  await post(channel);
  await expect.poll(() => heard.text).toContain('"timestamp"');
  expect(heard.text).toMatch(
    /^\uFEFF: .*\r\nid: 0\r\nevent: ready\r\ndata: \{\}\r\n\r\n: .*\r\nid: 1\r\ndata: \{\r\ndata: /,
  );
});

test('it cuts, goes silent, stalls, restarts and answers as scripted', async () => {
  const hostile = await relay();
  const channel = hostile.newChannel();
  const first = await listen(channel);
  hostile.faults.cut = 1;
  await post(channel);
  await expect.poll(() => first.ended).toBe(true);
  expect(first.text).not.toMatch(/"timestamp".*\n\n/);
  hostile.faults.cut = 0;

  const second = await listen(channel);
  hostile.ping();
  await expect.poll(() => second.text).toContain('ping');
  hostile.halfOpen();
  const third = await listen(channel);
  const before = second.text;
  for (let times = 0; times < 5; times += 1) {
    hostile.ping();
    // It answers later requests.
    await post(hostile.newChannel());
  }
  expect({ second: second.text, third: third.text }).toEqual({ second: before, third: '' });
  hostile.recover();
  await expect.poll(() => third.text).toContain('ready');

  hostile.answerNext({ status: 204 });
  expect((await listen(channel)).response.status).toBe(204);
  const down = Promise.withResolvers<void>();
  const restarting = hostile.restart({
    down: down.promise,
    answers: [{ status: 503, headers: { 'retry-after': '1' } }],
  });
  await expect.poll(() => second.ended).toBe(true);
  await expect(listen(channel)).rejects.toThrow(/fetch failed/);
  down.resolve();
  await restarting;
  expect((await listen(channel)).response.status).toBe(503);
  expect((await listen(channel)).response.status).toBe(200);
});

test('our relay creates channels with a read key, and in strict mode has no others', async () => {
  const hostile = await relay({ ours: true, strict: true, createKey: 'create' });
  const make = (headers: Record<string, string> = {}) =>
    fetch(`${hostile.url}/new`, { method: 'POST', body: '{}', headers });
  expect((await make()).status).toBe(401);
  const made = await make({ authorization: 'Bearer create' });
  expect(made.status).toBe(201);
  const { channel, writeUrl, readUrl, readKey } = (await made.json()) as Record<string, string>;
  expect({ writeUrl, readUrl }).toEqual({
    writeUrl: `${hostile.url}/${channel}`,
    readUrl: `${hostile.url}/${channel}`,
  });
  const key = { authorization: `Bearer ${readKey}` };
  expect((await listen(readUrl ?? '')).response.status).toBe(401);
  expect((await listen(hostile.newChannel(), key)).response.status).toBe(404);
  expect((await fetch(hostile.newChannel(), { method: 'POST', body: '{}' })).status).toBe(404);
  const heard = await listen(`${readUrl}?subscriber=host-1`, key);
  await post(writeUrl ?? '');
  await expect.poll(() => bodies(heard.text)).toHaveLength(1);
  expect(hostile.connected.map(({ subscriber }) => subscriber)).toEqual([null, null, 'host-1']);
  expect((await fetch(`${readUrl}/status`)).status).toBe(401);
  const status = await (await fetch(`${readUrl}/status`, { headers: key })).json();
  expect(status).toEqual({ subscribers: { named: [{ subscriber: 'host-1', lag: 0 }] } });
});

test('our relay stores, resumes, sends raw bytes, and reports gaps', async () => {
  const hostile = await relay({ ours: true, readKey: 'key' });
  const channel = hostile.newChannel();
  const key = { authorization: 'Bearer key' };
  expect((await listen(channel)).response.status).toBe(401);
  const fresh = await listen(channel, key);
  expect(fresh.response.headers.get('x-svc-relay')).toBe('1; ping=30');
  await expect.poll(() => fresh.text).toBe('event: ready\ndata: {"position":"e1.0"}\n\n');
  await post(channel, '{"n": 1.0}');
  await post(channel, '{"n": 2.0}');
  await expect.poll(() => idLines(fresh.text)).toEqual(['e1.1', 'e1.2']);

  const resumed = await listen(`${channel}?raw=1`, { ...key, 'last-event-id': 'e1.1' });
  await expect.poll(() => idLines(resumed.text)).toEqual(['e1.2']);
  expect(resumed.text).toContain(`"bodyB":"${Buffer.from('{"n": 2.0}').toString('base64')}"`);

  hostile.forget(1);
  const late = await listen(channel, { ...key, 'last-event-id': 'e1.0' });
  await expect.poll(() => idLines(late.text)).toEqual(['e1.2']);
  expect(late.text).toContain('event: gap\ndata: {"requested":"e1.0","oldest":"e1.2"}\n\n');
  expect(late.text).toContain('{"position":"e1.1"}');

  hostile.loseStore();
  const other = await listen(channel, { ...key, 'last-event-id': 'e1.2' });
  await expect.poll(() => other.text).toContain('event: gap');
  expect(other.text).toContain('{"position":"e2.0"}');
});
