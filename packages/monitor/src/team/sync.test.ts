import type { ServerResponse } from 'node:http';
import { type EventDraft, emptyBoard, foldLine, sharedThings } from '@svc/core';
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

test('a connection that is lost while what it brought is being stored removes nothing', async () => {
  const records: string[] = [];
  const frame = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`;
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

  const board = emptyBoard();
  const lines: EventDraft[] = [];
  const write = (line: EventDraft): { seq: number } => {
    lines.push(line);
    foldLine(board, { ...line, seq: lines.length, ts: new Date().toISOString() });
    return { seq: lines.length };
  };
  const machines = (admin.roster?.members ?? []).map(({ agree: _agree, ...one }) => one);
  write({ event: 'team.roster.changed', source: 'monitor', via: 'local', scope: {}, detail: { machines } });
  const sync = createSync({
    configDir: temporaryFolder(),
    state: { board: () => board } as StateFollower,
    async append(line) {
      heldLines += isHeld ? 1 : 0;
      await held.promise;
      return write(line);
    },
    version: '1.2.3',
    logger: pino({ level: 'silent' }),
    now: Date.now,
    onChange: () => undefined,
  });
  onTestFinished(() => sync.stop());
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
