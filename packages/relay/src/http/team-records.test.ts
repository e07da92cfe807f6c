// Records of a team, through a relay on a real nats-server: who may write and read what, and what a reader gets.
import { generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import {
  formatRecordPath,
  type RecordKind,
  ROSTER_HASH,
  signedText,
  type TeamAccess,
} from '@svc/contract/relay/record';
import { until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { anotherEngine, engineForTest } from '../engine/testing/engine-for-test.ts';
import { relayForTest } from './testing/relay-for-test.ts';

const sha = (text: string): string => hash('sha256', text, 'hex');

function machine() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = String(publicKey.export({ format: 'jwk' }).x);
  const id = hash('sha256', Buffer.from(key, 'base64url'), 'base64url').slice(0, 22);
  return { id, key, sign: (text: string) => sign(null, Buffer.from(text), privateKey).toString('base64url') };
}
type Machine = ReturnType<typeof machine>;

const noAccess: TeamAccess = { readKey: sha('x'), machines: {}, guests: {}, agree: 'AAAA', keys: {} };
const hashOf = (name: string): string => hash('sha256', name, 'base64url').slice(0, 22);

async function team(given: Parameters<typeof relayForTest>[0] = {}) {
  const { engine, nats } = await engineForTest();
  const relay = await relayForTest({ engine, ...given });
  const admin = machine();
  const made = await fetch(`${relay.url}/new`, { method: 'POST', body: JSON.stringify({ team: admin.key }) });
  const { channel, readKey } = (await made.json()) as { channel: string; readKey: string };
  const put = async (
    by: Machine,
    kind: RecordKind,
    name: string,
    version: number,
    more: {
      path?: string;
      signature?: string;
      access?: TeamAccess;
      headers?: object;
      value?: string;
      gone?: true;
      at?: string;
    } = {},
  ) => {
    const path =
      more.path ??
      formatRecordPath({
        machine: by.id,
        kind,
        hash: kind === 'roster' || kind === 'join' ? ROSTER_HASH : hashOf(name),
      });
    const box = Buffer.from(more.value ?? `${name} ${version}`).toString('base64url');
    const { access, gone } = more;
    const body = JSON.stringify({ version, epoch: 1, nonce: 'AAAA', box, gone, access });
    const answer = await fetch(`${more.at ?? relay.url}/${channel}/${path}`, {
      method: 'PUT',
      body,
      headers: {
        'X-Svc-Signature': more.signature ?? by.sign(signedText(channel, path, body)),
        ...more.headers,
      },
    });
    const { code } = (await answer.json()) as { code?: string };
    return code ?? answer.status;
  };
  const access: TeamAccess = { ...noAccess, readKey: sha(readKey) };
  let rosterVersion = 0;
  const roster = async (change: Partial<TeamAccess>, by = admin) => {
    Object.assign(access, change);
    rosterVersion += 1;
    return put(by, 'roster', 'roster', rosterVersion, { access });
  };
  const read = async (key: string, last?: string, at = relay.url) => {
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const answer = await fetch(`${at}/${channel}/records`, {
      headers: { Authorization: `Bearer ${key}`, ...(last !== undefined && { 'Last-Event-ID': last }) },
      signal: stop.signal,
    });
    const seen = { status: answer.status, headers: answer.headers, text: '', ended: false };
    void (async () => {
      for await (const chunk of answer.body ?? []) seen.text += Buffer.from(chunk).toString();
      seen.ended = true;
    })().catch(() => undefined);
    const values = (): string[] =>
      [...seen.text.matchAll(/^data: (.*"body".*)$/gm)].map(([, data = '']) => {
        const { body } = JSON.parse(data) as { body: string };
        return Buffer.from((JSON.parse(body) as { box: string }).box, 'base64url').toString();
      });
    const ready = () => /event: ready\ndata: (.*)/.exec(seen.text)?.[1];
    const ids = () => [...seen.text.matchAll(/^id: (.*)$/gm)].map(([, id = '']) => id);
    return { seen, values, ready, ids, stop: () => stop.abort() };
  };
  return { relay, engine, nats, admin, channel, readKey, put, roster, read, access };
}

test('a new reader gets the newest value of each path, then every change', async () => {
  const { admin, put, roster, read, readKey } = await team();
  const [one, two] = [machine(), machine()];
  expect(await roster({ machines: { [admin.id]: admin.key, [one.id]: one.key, [two.id]: two.key } })).toBe(
    200,
  );
  for (const version of [1, 2, 3]) expect(await put(one, 'worker', 'a', version)).toBe(200);
  expect(await put(two, 'worker', 'a', 1)).toBe(200);
  const reader = await read(readKey);
  await until(() => reader.ready() !== undefined);
  expect(reader.values().toSorted()).toEqual(['a 1', 'a 3', 'roster 1']);
  expect(reader.seen.headers.get('x-svc-relay')).toMatch(/^1; ping=/);
  expect(JSON.parse(reader.ready() ?? '')).toMatchObject({ complete: true });
  expect(await put(one, 'worker', 'b', 1)).toBe(200);
  await until(() => reader.values().includes('b 1'));
  const last = reader.ids().at(-1);
  reader.stop();
  expect(await put(one, 'worker', 'a', 4)).toBe(200);
  const again = await read(readKey, last);
  await until(() => again.ready() !== undefined);
  expect(again.values()).toEqual(['a 4']);
  expect(JSON.parse(again.ready() ?? '')).toMatchObject({ complete: false });
});

test('a record through one relay reaches the readers of another', async () => {
  const { admin, put, roster, read, readKey, nats } = await team();
  const other = await relayForTest({ engine: await anotherEngine(nats.servers) });
  await roster({ machines: { [admin.id]: admin.key } });
  const reader = await read(readKey, undefined, other.url);
  await until(() => reader.ready() !== undefined);
  expect(await put(admin, 'run', 'r', 1)).toBe(200);
  await until(() => reader.values().includes('r 1'));
  expect(await put(admin, 'run', 'r', 2, { at: other.url })).toBe(200);
  expect(await put(admin, 'run', 'r', 2, { value: 'another' })).toBe('old-version');
});

test('the same record again is a duplicate; an older or different one with its version is refused', async () => {
  const { admin, put, roster } = await team();
  await roster({ machines: { [admin.id]: admin.key } });
  expect(await put(admin, 'run', 'r', 5)).toBe(200);
  expect(await put(admin, 'run', 'r', 5)).toBe(200);
  expect(await put(admin, 'run', 'r', 5, { value: 'other' })).toBe('old-version');
  expect(await put(admin, 'run', 'r', 4)).toBe('old-version');
  const results = await Promise.all([6, 7, 8, 9, 10].map((version) => put(admin, 'run', 'r', version)));
  expect(results.filter((result) => result === 200).length).toBeGreaterThan(0);
  expect(await put(admin, 'run', 'r', 10)).not.toBe('bad-signature');
});

test('only a machine of the roster writes, and only its own paths', async () => {
  const { admin, put, roster } = await team();
  const [member, stranger] = [machine(), machine()];
  expect(await put(admin, 'run', 'r', 1)).toBe('not-a-member');
  await roster({ machines: { [admin.id]: admin.key, [member.id]: member.key } });
  expect(await put(stranger, 'run', 'r', 1)).toBe('not-a-member');
  const path = formatRecordPath({ machine: member.id, kind: 'run', hash: hashOf('r') });
  expect(await put(stranger, 'run', 'r', 1, { path })).toBe('bad-signature');
  expect(await put(member, 'run', 'r', 1, { signature: '' })).toBe('bad-signature');
  expect(await put(member, 'run', 'r', 1, { signature: 'A'.repeat(86) })).toBe('bad-signature');
  expect(await put(member, 'run', 'r', 1, { path: `${member.id}.77.${hashOf('r')}` })).toBe('bad-request');
  expect(await put(member, 'roster', '', 9, { access: noAccess })).toBe('not-a-member');
  expect(await put(member, 'run', 'r', 1, { access: noAccess })).toBe('bad-request');
  expect(await put(member, 'run', 'r', 1, { value: 'x'.repeat(70_000) })).toBe('record-too-large');
  expect(await put(member, 'run', 'r', 1)).toBe(200);
  await roster({ machines: { [admin.id]: admin.key } });
  expect(await put(member, 'run', 'r', 2)).toBe('not-a-member');
});

test('what a removed machine has stored is removed, also what another relay took after that', async () => {
  const { admin, put, roster, engine, channel } = await team();
  const [kept, removed] = [machine(), machine()];
  const machines = { [admin.id]: admin.key, [kept.id]: kept.key };
  await roster({ machines: { ...machines, [removed.id]: removed.key } });
  for (const by of [kept, removed]) expect(await put(by, 'run', 'r', 1)).toBe(200);
  const stored = () => Promise.all([kept, removed].map(({ id }) => engine.records.count(channel, id)));
  expect(await stored()).toEqual([1, 1]);
  await roster({ machines });
  await until(async () => (await stored())[1] === 0);
  const path = formatRecordPath({ machine: removed.id, kind: 'run', hash: hashOf('late') });
  const late = { messageId: 'late', expectedLast: 0, deadlineMs: 10_000 };
  await engine.records.put(channel, path, Buffer.from('{}'), late);
  await until(async () => (await stored())[1] === 0);
  expect(await stored()).toEqual([1, 0]);
});

test('reading needs the key of the newest roster, and a change of the key ends the streams', async () => {
  const { admin, put, roster, read, readKey, access } = await team();
  expect((await read('wrong')).seen.status).toBe(401);
  await roster({ machines: { [admin.id]: admin.key } });
  const reader = await read(readKey);
  await until(() => reader.ready() !== undefined);
  await roster({ ...access, readKey: sha('new-key') });
  await until(() => reader.seen.ended);
  expect((await read(readKey)).seen.status).toBe(401);
  expect((await read('new-key')).seen.status).toBe(200);
  expect(await put(admin, 'run', 'r', 1)).toBe(200);
});

test('a guest reads only the roster and writes one join', async () => {
  const { admin, put, roster, read } = await team();
  const invitation = { ...machine(), id: hashOf('invitation') };
  const secret = randomBytes(16).toString('hex');
  const headers = { Authorization: `Bearer ${secret}` };
  await roster({ machines: { [admin.id]: admin.key }, guests: { [invitation.id]: sha(secret) } });
  expect(await put(admin, 'run', 'r', 1)).toBe(200);
  const guest = await read(secret);
  await until(() => guest.ready() !== undefined);
  expect(guest.values()).toEqual(['roster 1']);
  expect(await put(invitation, 'join', 'join', 1)).toBe('not-a-member');
  expect(await put(invitation, 'run', 'r', 1, { headers })).toBe('not-a-member');
  expect(await put(invitation, 'join', 'join', 1, { headers })).toBe(200);
  expect(await put(invitation, 'join', 'join', 1, { headers, value: 'other' })).toBe('old-version');
});

test('an invitation has one join, and a machine none, not even below its own id', async () => {
  const { admin, put, roster, read, readKey } = await team();
  const member = machine();
  const secret = randomBytes(16).toString('hex');
  const headers = { Authorization: `Bearer ${secret}` };
  const invitation = { ...machine(), id: hashOf('invitation') };
  const machines = { [admin.id]: admin.key, [member.id]: member.key };
  await roster({ machines, guests: { [invitation.id]: sha(secret), [member.id]: sha(secret) } });
  const paths = Array.from({ length: 40 }, (_, number) =>
    formatRecordPath({ machine: invitation.id, kind: 'join', hash: hashOf(`join ${number}`) }),
  );
  for (const path of paths)
    expect(await put(invitation, 'join', 'join', 1, { headers, path })).toBe('not-a-member');
  expect(await put(member, 'join', 'join', 1, { headers })).toBe('not-a-member');
  expect(await put(invitation, 'join', 'join', 1, { headers })).toBe(200);
  const reader = await read(readKey);
  await until(() => reader.ready() !== undefined);
  expect(reader.values()).toEqual(['roster 1', 'join 1']);
});

test.each([
  ['the memory of all bodies', 2 * 1024 * 1024, 29],
  ['the part of one address', 100 * 1024 * 1024, 18],
])('unfinished records stay below %s, which is free again afterwards', async (_, roomBytes, least) => {
  const { admin, channel, put, roster, relay } = await team({ roomBytes });
  await roster({ machines: { [admin.id]: admin.key } });
  const path = formatRecordPath({ machine: admin.id, kind: 'roster', hash: ROSTER_HASH });
  const signature = 'A'.repeat(86);
  const stranger = { ...machine(), id: hashOf('stranger') };
  const sockets: Socket[] = [];
  let refused = 0;
  const unfinished = (to: string): void => {
    const socket = connect(relay.port, '127.0.0.1');
    sockets.push(socket);
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      if (/^HTTP\/1.1 (?:403|503)/.test(data.toString())) refused += 1;
    });
    const head = `PUT /${channel}/${to} HTTP/1.1\r\nHost: x\r\nX-Svc-Signature: ${signature}\r\nContent-Length: 250000\r\n\r\n`;
    socket.write(`${head}${'x'.repeat(200_000)}`);
  };
  for (let number = 0; number < 40; number += 1) unfinished(path);
  await until(() => refused >= least);
  for (let number = 0; number < 10; number += 1)
    unfinished(formatRecordPath({ machine: stranger.id, kind: 'run', hash: hashOf('r') }));
  await until(() => refused >= least + 10);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await put(admin, 'run', 'r', 2)) === 200);
});

test('what is not signed by a member does not count for the limit of the channel', async () => {
  const counted: string[] = [];
  const limits = {
    delivery: (id: string) => {
      counted.push(id);
      return 0;
    },
    weigh: (id: string | null) => void counted.push(id ?? 'stranger'),
  };
  const { admin, channel, put, roster } = await team({ limits });
  await roster({ machines: { [admin.id]: admin.key } });
  counted.length = 0;
  const stranger = machine();
  expect(await put(stranger, 'run', 'r', 1)).toBe('not-a-member');
  expect(await put(admin, 'run', 'r', 1, { signature: '' })).toBe('bad-signature');
  expect(await put(admin, 'run', 'r', 1, { signature: 'A'.repeat(86) })).toBe('bad-signature');
  expect(counted).toEqual(['stranger']);
  expect(await put(admin, 'run', 'r', 1)).toBe(200);
  expect(counted).toEqual(['stranger', channel, channel]);
});

test('a team has at most so many readers at once', async () => {
  const { admin, roster, read, readKey } = await team({ limits: { subscribersPerChannel: 2 } });
  await roster({ machines: { [admin.id]: admin.key } });
  const readers = [await read(readKey), await read(readKey)];
  expect(readers.map(({ seen }) => seen.status)).toEqual([200, 200]);
  expect((await read(readKey)).seen.status).toBe(429);
  readers[0]?.stop();
  await until(async () => (await read(readKey)).seen.status === 200);
});

test('an ordinary channel has no records, and a team takes no deliveries', async () => {
  const { relay, channel, readKey } = await team();
  const made = await fetch(`${relay.url}/new`, { method: 'POST' });
  const ordinary = (await made.json()) as { channel: string; readKey: string };
  const headers = { Authorization: `Bearer ${ordinary.readKey}` };
  expect((await fetch(`${relay.url}/${ordinary.channel}/records`, { headers })).status).toBe(404);
  expect((await fetch(`${relay.url}/${channel}`, { method: 'POST', body: '{}' })).status).toBe(404);
  expect(readKey).toMatch(/^[\w-]{43}$/);
});
