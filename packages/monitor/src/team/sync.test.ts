import type { ServerResponse } from 'node:http';
import {
  type EventDraft,
  emptyBoard,
  foldLine,
  parseRecordBody,
  parseRecordPath,
  type RecordBody,
  type RecordKind,
  sharedThings,
} from '@svc/core';
import {
  answerWithJson,
  sampleAttention,
  sampleBoard,
  startRecordingServer,
  temporaryFolder,
  until,
} from '@svc/testkit';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { StateFollower } from '../state/state-follower.ts';
import { makeRecord } from './records.ts';
import { nameHash, newKey, newMachineKeys } from './seal.ts';
import { createSync } from './sync.ts';
import type { TeamFile } from './team-file.ts';

const [item] = sharedThings(sampleBoard({ attention: [sampleAttention()] }));

async function twoMembers(channelUrl: string): Promise<[admin: TeamFile, member: TeamFile]> {
  const [one, two] = [await newMachineKeys(), await newMachineKeys()];
  const members = [
    { id: one.id, person: 'kim', machine: 'one', role: 'admin' as const, agree: one.agreePublic },
    { id: two.id, person: 'mia', machine: 'two', role: 'member' as const, agree: two.agreePublic },
  ];
  const shared = {
    channelUrl,
    admin: one.id,
    adminAgree: one.agreePublic,
    teamKeys: [{ epoch: 1, key: newKey() }],
    rosterVersion: 1,
    roster: { team: 'web', names: newKey(), members, removed: [] },
    machines: { [one.id]: one.signPublic, [two.id]: two.signPublic },
    invitation: null,
    invitations: [],
    used: [],
  };
  return [
    { ...shared, keys: one as TeamFile['keys'], person: 'kim', machine: 'one' },
    { ...shared, keys: two as TeamFile['keys'], person: 'mia', machine: 'two' },
  ];
}

/** With a board in memory that knows the members. `beforeLine` may hold what is appended. */
function createTestSync({ roster }: TeamFile, beforeLine: () => Promise<void> = async () => undefined) {
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
    configDir: temporaryFolder(),
    state: { board: () => board } as StateFollower,
    async append(line) {
      await beforeLine();
      return write(line);
    },
    version: '1.2.3',
    logger: pino({ level: 'silent' }),
    now: Date.now,
    onChange: () => undefined,
  });
  onTestFinished(() => sync.stop());
  return { sync, board, lines };
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
  const [admin, member] = await twoMembers(`${relay.url}/channel`);
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

const THINGS = 20;

/** A machine that has published some things and its heartbeat. */
async function publishing(relay: Awaited<ReturnType<typeof startTestRelay>>) {
  const [admin, member] = await twoMembers(relay.url);
  const { sync, board } = createTestSync(admin);
  for (let n = 0; n < THINGS; n += 1) board.attention.set(`${n}`, { ...sampleAttention(), id: `${n}` });
  await sync.resume(member);
  await until(() => sync.figures().published === THINGS + 1);
  return { sync, member };
}

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
  const [admin, { keys: removed }] = await twoMembers(relay.url);
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
  const [admin, member] = await twoMembers(relay.url);
  const { sync } = createTestSync(admin);
  const resumed = sync.resume(member);
  await sync.stop();
  await resumed;
  const other = createTestSync(admin).sync;
  await other.resume(member);
  await until(() => other.mode().state === 'live');
  expect(relay.requests.filter(({ url }) => url.endsWith('/records?raw=1'))).toHaveLength(1);
});
