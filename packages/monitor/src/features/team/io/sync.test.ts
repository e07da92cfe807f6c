import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import {
  parseRecordBody,
  parseRecordPath,
  type RecordBody,
  type RecordKind,
} from '@svc/contract/relay/record';
import {
  answerWithJson,
  createRandom,
  sampleAttention,
  sampleBoard,
  startRecordingServer,
  temporaryFolder,
  until,
} from '@svc/testkit';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { StateFollower } from '../../../kernel/board/state-follower.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { emptyBoard, foldLine } from '../../board.ts';
import { formatInvitation, type Heartbeat, INVITATION_MS } from '../roster.ts';
import { sharedThings } from '../shared-things.ts';
import { hostileJoin } from '../testing/hostile-joins.ts';
import { testTeam } from '../testing/test-team.ts';
import { invitationKeys, makeRecord } from './records.ts';
import { nameHash, newKey, recordsDigest } from './seal.ts';
import { createSync } from './sync.ts';
import type { TeamFile } from './team-file.ts';

const [item] = sharedThings(sampleBoard({ attention: [sampleAttention()] }));

/** With a board in memory that knows the members. `beforeLine` may hold what is appended. */
function createTestSync(
  { roster }: TeamFile,
  beforeLine: () => Promise<void> = async () => undefined,
  more: Partial<Parameters<typeof createSync>[0]> = {},
) {
  const configDir = temporaryFolder();
  const board = emptyBoard();
  const lines: EventDraft[] = [];
  const write = (line: EventDraft): { seq: number } => {
    lines.push(line);
    foldLine(board, { ...line, seq: lines.length, ts: new Date().toISOString() });
    return { seq: lines.length };
  };
  const machines = (roster?.members ?? []).map(({ agree: _agree, ...one }) => one);
  write({ event: 'team.roster.changed', source: 'monitor', via: 'local', scope: {}, detail: { machines } });
  const sync = createSync({
    configDir,
    state: { board: () => board } as StateFollower,
    async append(line) {
      await beforeLine();
      return write(line);
    },
    shareTitles: () => false,
    version: '1.2.3',
    logger: pino({ level: 'silent' }),
    now: Date.now,
    onChange: () => undefined,
    ...more,
  });
  onTestFinished(() => sync.stop());
  return { sync, board, lines, configDir };
}

const frame = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`;

/** A relay without records. It stores what `refusal` does not refuse. */
async function startTestRelay(refusal: (put: Put) => 'not-a-member' | 'old-version' | 'failed' | undefined) {
  const stored: Put[] = [];
  const relay = await startRecordingServer(({ method, url, body }, response) => {
    if (method === 'GET') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Svc-Relay': '1; ping=30' });
      response.write(frame('ready', JSON.stringify({ position: 'e.1', complete: true })));
      return;
    }
    const put = {
      kind: parseRecordPath(url.slice(url.lastIndexOf('/') + 1))?.kind,
      ...parseRecordBody(body),
    };
    const code = refusal(put);
    if (code !== undefined) return answerWithJson(response, code === 'failed' ? 503 : 403, { code });
    stored.push(put);
    answerWithJson(response, 200, { ok: true });
  });
  return { url: `${relay.url}/channel`, stored, requests: relay.requests };
}

type Put = Partial<RecordBody> & { kind: RecordKind | undefined };

test('a connection that is lost while what it brought is being stored removes nothing', async () => {
  const records: string[] = [];
  const streams: ServerResponse[] = [];
  const held = Promise.withResolvers<void>();
  let isHeld = true;
  let heldLines = 0;
  const relay = await startRecordingServer(({ method }, response) => {
    if (method !== 'GET') return answerWithJson(response, 200, { ok: true });
    streams.push(response);
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Svc-Relay': '1; ping=30' });
    for (const record of records) response.write(frame('record', record));
    response.write(frame('ready', JSON.stringify({ position: 'e.1', complete: true })));
    if (isHeld) response.end();
  });
  const [admin, member] = await testTeam(`${relay.url}/channel`);
  const publish = async (key: string): Promise<string> => {
    const hash = await nameHash(admin.roster?.names ?? '', 'attention', key);
    return JSON.stringify(
      await makeRecord(admin, { kind: 'attention', hash }, 1, { key, value: item?.value }),
    );
  };
  records.push(await publish('a'), await publish('b'));

  const { sync, board, lines } = createTestSync(admin, async () => {
    heldLines += isHeld ? 1 : 0;
    await held.promise;
  });
  await sync.resume(member);
  await until(() => heldLines === records.length);
  const before = streams.length;
  await until(() => streams.length >= before + 2);
  isHeld = false;
  held.resolve();
  await until(() => streams.at(-1)?.writableEnded === false);
  const last = await publish('last');
  records.push(last);
  streams.at(-1)?.write(frame('record', last));
  await until(() => board.team.has(`${admin.keys.id}/attention/last`));
  expect(lines.map(({ event }) => event)).toEqual([
    'team.roster.changed',
    ...records.map(() => 'team.record.changed'),
  ]);
  expect([...board.team.values()].every(({ value }) => value !== null)).toBe(true);
  expect(sync.mode().state).toBe('live');
});

test('what a complete stream leaves out is removed only when the heartbeat says so too', async () => {
  let records: string[] = [];
  const streams: ServerResponse[] = [];
  const relay = await startRecordingServer(({ method }, response) => {
    if (method !== 'GET') return answerWithJson(response, 200, { ok: true });
    streams.push(response);
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Svc-Relay': '1; ping=30' });
    for (const record of records) response.write(frame('record', record));
    response.write(frame('ready', JSON.stringify({ position: 'e.1', complete: true })));
  });
  const [admin, member] = await testTeam(`${relay.url}/channel`);
  const names = admin.roster?.names ?? '';
  const paths = new Map<string, string>();
  const publish = async (key: string): Promise<string> => {
    const hash = await nameHash(names, 'attention', key);
    const record = await makeRecord(admin, { kind: 'attention', hash }, 1, { key, value: item?.value });
    paths.set(key, record.path);
    return JSON.stringify(record);
  };
  const beat = async (version: number, ...keys: string[]): Promise<string> => {
    const hash = await nameHash(names, 'machine', 'machine');
    const digest = recordsDigest(keys.map((key) => [paths.get(key) ?? '', 1]));
    const value: Heartbeat = {
      version: '1.2.3',
      at: new Date().toISOString(),
      instance: 'a',
      tick: version,
      roster: 1,
      records: { count: keys.length, digest, pending: 0 },
      heard: {},
    };
    return JSON.stringify(
      await makeRecord(admin, { kind: 'machine', hash }, version, { key: 'machine', value }),
    );
  };
  const [a, b] = [await publish('a'), await publish('b')];
  records = [a, b, await beat(1, 'a', 'b')];
  const { sync, board } = createTestSync(admin);
  const shown = (): string[] =>
    [...board.team.values()].flatMap(({ key, value }) => (value === null ? [] : [key])).toSorted();
  await sync.resume(member);
  await until(() => shown().length === 2);
  await until(() => sync.mode().state === 'live');

  records = [b, await beat(2, 'a', 'b'), await publish('c')];
  streams.at(-1)?.destroy();
  await until(() => shown().includes('c'));
  const show = (record: string): void => void streams.at(-1)?.write(frame('record', record));
  show(await publish('d'));
  await until(() => shown().includes('d'));
  expect(shown()).toEqual(['a', 'b', 'c', 'd']);

  show(await beat(3, 'b', 'c', 'd'));
  await until(() => shown().length === 3);
  expect(shown()).toEqual(['b', 'c', 'd']);
});

const THINGS = 20;

/** A machine that has published some things and its heartbeat. */
async function publishing(relay: Awaited<ReturnType<typeof startTestRelay>>) {
  const [admin, member] = await testTeam(relay.url);
  const { sync, board } = createTestSync(admin);
  for (let n = 0; n < THINGS; n += 1) board.attention.set(`${n}`, { ...sampleAttention(), id: `${n}` });
  await sync.resume(member);
  await until(() => sync.figures().published === THINGS + 1);
  return { sync, member };
}

test('a record that could not be stored comes again, whatever came after it', async () => {
  const streams: ServerResponse[] = [];
  const positions: (string | string[] | undefined)[] = [];
  const relay = await startRecordingServer(({ method, url, headers }, response) => {
    if (method !== 'GET') return answerWithJson(response, 200, { ok: true });
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Svc-Relay': '1; ping=30' });
    // The first request of a connection only finds out what relay this is.
    if (!url.endsWith('?raw=1')) {
      response.flushHeaders();
      return;
    }
    streams.push(response);
    positions.push(headers['last-event-id']);
    if (streams.length === 1)
      response.write(frame('ready', JSON.stringify({ position: 'e.1', complete: true })));
  });
  const [admin, member] = await testTeam(`${relay.url}/channel`);
  const send = async (key: string, id: string): Promise<void> => {
    const hash = await nameHash(admin.roster?.names ?? '', 'attention', key);
    const record = await makeRecord(admin, { kind: 'attention', hash }, 1, { key, value: item?.value });
    streams[0]?.write(`id: ${id}\n${frame('record', JSON.stringify(record))}`);
  };
  let isFull = false;
  const { sync, board } = createTestSync(admin, async () => {
    if (isFull) throw new Error('the disk is full');
  });
  await sync.resume(member);
  await until(() => sync.mode().state === 'live');
  isFull = true;
  await send('lost', 'e.2');
  await until(() => sync.mode().state === 'unreachable');
  isFull = false;
  await send('later', 'e.3');
  await until(() => streams.length === 2);
  // From the beginning.
  expect(positions).toEqual([undefined, undefined]);
  expect(board.team.size).toBe(0);
});

test('a machine that leaves removes its heartbeat last, because the administrator removes it then', async () => {
  let isRemoved = false;
  const relay = await startTestRelay(({ kind, gone }) => {
    if (isRemoved) return 'not-a-member';
    isRemoved = kind === 'machine' && gone === true;
    return undefined;
  });
  const { sync, member } = await publishing(relay);
  await sync.leave(member);
  expect(relay.stored.filter(({ gone }) => gone === true)).toHaveLength(THINGS + 1);
  expect(sync.file()).toBeUndefined();
});

test('a machine that could not leave stays in the team, and publishes again', async () => {
  let isFailing = false;
  const relay = await startTestRelay(({ kind, gone }) =>
    isFailing && gone === true && kind === 'machine' ? 'failed' : undefined,
  );
  const { sync, member } = await publishing(relay);
  isFailing = true;
  await expect(sync.leave(member)).rejects.toThrow('refused a record');
  const before = relay.stored.length;
  await until(() => relay.stored.length === before + THINGS + 1);
  expect(relay.stored.slice(before).every(({ gone }) => gone !== true)).toBe(true);
  expect(sync.mode().state).toBe('live');
  expect(sync.file()).toBeDefined();
});

test('a list of members that could not be published is published later, and says so until then', async () => {
  let answer: 'failed' | 'old-version' | undefined;
  const relay = await startTestRelay(({ kind }) => (kind === 'roster' ? answer : undefined));
  const [admin, { keys: removed }] = await testTeam(relay.url);
  const { sync, board } = createTestSync(admin);
  await sync.resume(admin);
  await until(() => sync.mode().state === 'live');
  const rosters = () => relay.stored.filter(({ kind }) => kind === 'roster');
  answer = 'failed';
  await expect(sync.remove(removed.id)).rejects.toThrow('refused a record');
  await sync.retryRoster();
  expect(sync.figures().rosterFailing).toContain('refused a record');
  expect(board.members.size).toBe(2);
  answer = undefined;
  await sync.retryRoster();
  expect(sync.figures().rosterFailing).toBeNull();
  expect(Object.keys(rosters().at(-1)?.access?.machines ?? {})).toEqual([admin.keys.id]);
  expect(board.members.size).toBe(1);
  const published = rosters().length;
  await sync.retryRoster();
  expect(rosters()).toHaveLength(published);

  // It was stored although the answer was lost: the stream shows it.
  answer = 'failed';
  await expect(sync.changeRoster((own) => own)).rejects.toThrow('refused a record');
  answer = 'old-version';
  await sync.retryRoster();
  expect(sync.figures().rosterFailing).toBeNull();
});

test('no stream is opened after a stop', async () => {
  const relay = await startTestRelay(() => undefined);
  const [admin, member] = await testTeam(relay.url);
  const { sync } = createTestSync(admin);
  const resumed = sync.resume(member);
  await sync.stop();
  await resumed;
  // Stopped while the keys of the stream are derived.
  const { sync: beginning } = createTestSync(admin);
  await beginning.begin(member);
  const opening = beginning.open();
  await beginning.stop();
  await opening;
  const other = createTestSync(admin).sync;
  await other.resume(member);
  await until(() => other.mode().state === 'live');
  expect(relay.requests.filter(({ url }) => url.endsWith('/records?raw=1'))).toHaveLength(1);
});

/** A relay whose stream shows what a test writes. */
async function startShowingRelay() {
  const streams: ServerResponse[] = [];
  const puts: string[] = [];
  const relay = await startRecordingServer(({ method, url }, response) => {
    if (method !== 'GET') {
      puts.push(parseRecordPath(url.slice(url.lastIndexOf('/') + 1))?.kind ?? '');
      return answerWithJson(response, 200, { ok: true });
    }
    streams.push(response);
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Svc-Relay': '1; ping=30' });
    response.write(frame('ready', JSON.stringify({ position: 'e.1', complete: true })));
  });
  const show = (record: object): void => void streams.at(-1)?.write(frame('record', JSON.stringify(record)));
  return { url: `${relay.url}/channel`, puts, show };
}

const HOSTILE = 300;

test('of 300 hostile requests to join none changes anything', async () => {
  const relay = await startShowingRelay();
  const [admin] = await testTeam(relay.url);
  const secret = newKey();
  const { id } = await invitationKeys(secret);
  const open = { id, secret, expiresAt: Date.now() + INVITATION_MS, listed: true, person: null };
  const { sync, board, configDir } = createTestSync(admin);
  await sync.begin({ ...admin, invitations: [open] });
  await sync.changeRoster((own) => own);
  sync.enter('connecting');
  await sync.open();
  await until(() => sync.mode().state === 'live');
  const stored = (): string => readFileSync(join(configDir, 'team.json'), 'utf8');
  const [before, rosters] = [stored(), relay.puts.filter((kind) => kind === 'roster').length];
  const random = createRandom(1);
  const knowledge = {
    invitation: formatInvitation({ channelUrl: relay.url, secret, admin: admin.keys.id }),
    names: ['kim', 'mia', 'one', 'two'],
    ids: Object.keys(admin.machines),
  };
  for (let count = 0; count < HOSTILE; count += 1) {
    const { access: _access, ...record } = await hostileJoin(random, knowledge);
    relay.show(record);
  }
  const refused = (): number => sync.figures().refused.reduce((sum, { count }) => sum + count, 0);
  await until(() => refused() === HOSTILE);
  expect(stored()).toBe(before);
  expect(relay.puts.filter((kind) => kind === 'roster')).toHaveLength(rosters);
  expect(board.members.size).toBe(2);
  expect(sync.mode().state).toBe('live');
});

test('a member whose key cannot be used is left out and named; the others get their list', async () => {
  const relay = await startTestRelay(() => undefined);
  const [admin, member] = await testTeam(relay.url);
  const members = (admin.roster?.members ?? []).map((one) =>
    one.id === member.keys.id ? { ...one, agree: 'A'.repeat(43) } : one,
  );
  const damaged = { ...admin, roster: { ...admin.roster, members } } as TeamFile;
  const { sync } = createTestSync(damaged);
  await sync.resume(damaged);
  const roster = relay.stored.find(({ kind }) => kind === 'roster');
  expect(Object.keys(roster?.access?.machines ?? {})).toEqual([admin.keys.id]);
  expect(sync.figures()).toMatchObject({ unusable: ['two'], rosterFailing: null });
  await sync.remove(member.keys.id);
  expect(sync.figures()).toMatchObject({ unusable: [] });
});

test('a change that could not be read again is dropped, and named until a list was published', async () => {
  const relay = await startTestRelay(() => undefined);
  const [admin] = await testTeam(relay.url);
  const { sync, configDir } = createTestSync(admin);
  await sync.begin(admin);
  await sync.changeRoster((own) => own);
  const stored = (): string => readFileSync(join(configDir, 'team.json'), 'utf8');
  const before = stored();
  const tooLong = { ...admin.roster, team: 'x'.repeat(101) } as TeamFile['roster'];
  await expect(sync.changeRoster((own) => ({ ...own, roster: tooLong }))).rejects.toThrow('was dropped');
  expect(stored()).toBe(before);
  expect(sync.file()?.roster?.team).toBe('web');
  expect(sync.figures().rosterFailing).toContain('was dropped');
  await sync.retryRoster();
  expect(sync.figures().rosterFailing).toBeNull();
});

test('one old version is no finding, the second is', async () => {
  const relay = await startShowingRelay();
  const [admin, member] = await testTeam(relay.url);
  const { sync, board } = createTestSync(admin);
  await sync.resume(member);
  await until(() => sync.mode().state === 'live');
  const publish = async (version: number): Promise<void> => {
    const hash = await nameHash(admin.roster?.names ?? '', 'attention', 'a');
    relay.show(
      await makeRecord(admin, { kind: 'attention', hash }, version, { key: 'a', value: item?.value }),
    );
  };
  const seen = (version: number) => until(() => board.team.values().next().value?.version === version);
  await publish(5);
  await publish(4);
  await publish(6);
  await seen(6);
  expect(sync.figures().refused).toEqual([]);
  await publish(3);
  await publish(7);
  await seen(7);
  expect(sync.figures().refused).toMatchObject([{ reason: 'old-version', machine: 'one', count: 2 }]);
});

test('what a machine publishes above its budget becomes no lines, and is named', async () => {
  const relay = await startShowingRelay();
  const [admin, member] = await testTeam(relay.url);
  let ahead = 0;
  const { sync, board, lines } = createTestSync(admin, undefined, {
    mostOfMachine: { lines: 3, bytes: 1_000_000 },
    now: () => Date.now() + ahead,
  });
  await sync.resume(member);
  await until(() => sync.mode().state === 'live');
  const hash = await nameHash(admin.roster?.names ?? '', 'attention', 'a');
  for (let version = 1; version <= 20; version += 1)
    relay.show(
      await makeRecord(admin, { kind: 'attention', hash }, version, { key: 'a', value: item?.value }),
    );
  // Refused, and so the last that was looked at.
  for (const version of [2, 1])
    relay.show(
      await makeRecord(admin, { kind: 'attention', hash }, version, { key: 'a', value: item?.value }),
    );
  await until(() => sync.figures().refused.length > 0);
  await until(() => lines.filter(({ event }) => event === 'team.record.changed').length === 3);
  expect(sync.figures().exceeded).toEqual(['one']);
  ahead = 3_600_000;
  await until(async () => {
    await sync.takeKept();
    return board.team.values().next().value?.version === 20;
  });
  expect(lines.filter(({ event }) => event === 'team.record.changed')).toHaveLength(4);
  expect(sync.figures().exceeded).toEqual([]);
});

test('after a team was begun one publisher runs, and none after a stop', async () => {
  const relay = await startTestRelay(() => undefined);
  const [admin] = await testTeam(relay.url);
  const { sync } = createTestSync(admin, undefined, { heartbeatMs: 100 });
  const beats = () => relay.stored.filter(({ kind }) => kind === 'machine');
  await sync.begin(admin);
  await sync.publishRoster();
  sync.enter('connecting');
  await sync.open();
  await until(() => beats().length >= 5);
  const versions = beats().map(({ version = 0 }) => version);
  // Each names a later moment, about an interval after the one before.
  expect(versions.every((version, index) => index === 0 || version - (versions[index - 1] ?? 0) > 50)).toBe(
    true,
  );
  await sync.stop();
  const count = beats().length;
  const end = performance.now() + 500;
  await until(() => performance.now() > end);
  expect(beats()).toHaveLength(count);
});
