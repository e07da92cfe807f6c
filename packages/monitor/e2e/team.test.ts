// Two machines (two homes, two daemons) and one relay on a real nats-server: from `svc team create` to a shared board.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerWithJson, startRecordingServer, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { askNats } from '../../testkit/src/nats/nats-node.ts';
import { invitationKeys } from '../src/features/team/io/records.ts';
import { parseInvitation } from '../src/features/team/roster.ts';
import { type Machine, machine, relayAt, teamOfTwo } from './team-world.ts';

const sees = async (by: Machine, other: Machine, ticket: string, status: string): Promise<boolean> => {
  const row = await by.rowOf(other.name);
  return row?.workers.some((worker) => worker.ticket === ticket && worker.status === status) === true;
};

test('two machines show the same board; agents’ texts stay where they are', async () => {
  const { nats, relay, one, two } = await teamOfTwo();
  one.work('ENG-1', 'implementing', 'a secret text of an agent');
  two.work('ENG-2', 'implementing');
  await until(() => sees(two, one, 'ENG-1', 'implementing'));
  await until(() => sees(one, two, 'ENG-2', 'implementing'));
  one.work('ENG-1', 'failed', 'a secret text of an agent');
  await until(() => sees(two, one, 'ENG-1', 'failed'));
  expect(JSON.stringify(await two.teamBoard())).not.toContain('secret text');

  const board = await two.svc('board', '--team');
  expect(board.text).toMatch(
    /two \(person-of-two\), this machine[^]*ENG-2[^]*one \(person-of-one\)[^]*ENG-1/,
  );
  expect((await two.svc('board', '--machine', 'one')).text).not.toContain('ENG-2');
  expect(await two.svc('board', '--machine', 'nobody')).toMatchObject({ exit: 2 });
  expect((await one.svc('attention', '--team')).exit).toBe(0);
  // The page's pull of changes, and the board as it was known then.
  const { body: changes } = await two.daemon().get('/api/board/changes');
  expect(changes).toMatchObject({
    members: [{}, {}],
    team: expect.arrayContaining([expect.objectContaining({ kind: 'worker' })]),
  });
  const received = (changes['team'] as { kind: string; lastSeq: number }[]).find(
    ({ kind }) => kind === 'worker',
  );
  const earlier = await two.daemon().get(`/api/board?team=1&at=${(received?.lastSeq ?? 0) - 1}`);
  expect(earlier.body['team']).toContainEqual(
    expect.objectContaining({ value: expect.objectContaining({ ticket: 'ENG-1', status: 'implementing' }) }),
  );
  expect((await two.daemon().get('/api/board')).body).toMatchObject({ team: [], members: [] });
  const why = await two.svc('why', 'ENG-1');
  expect(why.text).toMatch(
    /ENG-1 in run-one: failed[^]*known from +one \(person-of-one\), received[^]*is on one/,
  );
  const withoutAges = (text: string): string => text.replaceAll(/\((?:now|\d+ \w+ ago)\)/g, '(age)');
  const named = await two.svc('why', 'ENG-1', '--machine', 'one');
  expect(withoutAges(named.text)).toBe(withoutAges(why.text));
  expect(await two.svc('why', 'ENG-1', '--machine', 'two')).not.toMatchObject({ exit: 0 });
  expect((await one.svc('team', 'members')).text).toMatch(/one .*admin[^]*two .*member/);
  expect((await one.svc('team', 'status')).exit).toBe(0);

  // The relay and its store have none of it.
  const stored = filesBelow(nats.folder).concat(filesBelow(relay.folder));
  for (const secret of ['ENG-1', 'person-of-one', 'acme/web', 'b-ENG-1'])
    expect(stored.filter((text) => text.includes(secret))).toEqual([]);
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
}

test('titles stay on the machine until its person shares them, and go again', async () => {
  const { nats, relay, one, two } = await teamOfTwo();
  one.work('ENG-1', 'implementing');
  await one.open('ENG-1', 'Pay\u202e by invoice', 7);
  const titleAt = async (by: Machine): Promise<unknown> =>
    (await by.rowOf('one'))?.workers.find(({ ticket }) => ticket === 'ENG-1')?.title;
  await until(async () => (await titleAt(one)) === 'Pay\u202e by invoice');
  one.work('ENG-2', 'implementing');
  // Published after the title was known here.
  await until(() => sees(two, one, 'ENG-2', 'implementing'));
  expect(await titleAt(two)).toBeNull();
  expect(JSON.stringify(two.daemon().allLines())).not.toContain('by invoice');

  expect((await one.svc('config', 'set', 'svc.team.shareTitles', 'true')).exit).toBe(0);
  await until(async () => (await titleAt(two)) === 'Pay\u202e by invoice');
  expect((await two.svc('board', '--team')).text).toMatch(/one \(person-of-one\)[^]*ENG-1.*Pay.? by invoice/);
  expect((await two.svc('board', '--team')).text).not.toContain('\u202e');
  const stored = filesBelow(nats.folder).concat(filesBelow(relay.folder));
  expect(stored.filter((text) => text.includes('by invoice'))).toEqual([]);

  expect((await one.svc('config', 'set', 'svc.team.shareTitles', 'false')).exit).toBe(0);
  await until(async () => (await titleAt(two)) === null);
});

test('a machine that stopped is shown with its age, and catches up later', async () => {
  const { one, two } = await teamOfTwo();
  one.work('ENG-1', 'implementing');
  await until(() => sees(two, one, 'ENG-1', 'implementing'));
  await until(async () => (await two.rowOf('one'))?.presence === 'here');
  await one.daemon().close();
  two.skipTime(150_000);
  expect(await two.rowOf('one')).toMatchObject({ presence: 'silent', workers: [{ ticket: 'ENG-1' }] });
  expect((await two.svc('board', '--team')).text).toMatch(
    /one \(person-of-one\): last heard .*may be outdated/,
  );
  two.work('ENG-2', 'implementing');
  one.work('ENG-1', 'failed');
  await one.restart();
  await until(() => sees(two, one, 'ENG-1', 'failed'));
  await until(() => sees(one, two, 'ENG-2', 'implementing'));
  await until(async () => (await two.rowOf('one'))?.presence === 'here');
});

test('without the relay a machine works alone, says so, and publishes afterwards', async () => {
  const { nats, relay, one, two } = await teamOfTwo();
  await relay.stop();
  await until(async () => (await one.health()).state === 'degraded');
  expect(await one.health()).toMatchObject({
    why: expect.stringContaining('since 20'),
    remedy: expect.any(String),
  });
  one.work('ENG-1', 'implementing');
  await until(async () => (await one.rowOf('one'))?.workers.length === 1);
  await relayAt(nats.url, relay.port);
  await until(() => sees(two, one, 'ENG-1', 'implementing'));
  await until(async () => (await one.health()).state === 'live');
});

test('a list of members from a clock that was ahead is named in health, and members go on', async () => {
  const { one, two } = await teamOfTwo();
  expect((await one.health()).why).toBeUndefined();
  const ahead = 2 * 86_400_000;
  one.skipTime(ahead);
  expect((await one.svc('team', 'invite')).exit).toBe(0);
  one.skipTime(-ahead);
  await until(async () => (await one.health()).why?.includes('has a date in the future'));
  expect(await one.health()).toMatchObject({
    state: 'degraded',
    why: expect.stringContaining('because the clock of this machine was ahead'),
    remedy: expect.stringMatching(/^Set the clock\./),
  });
  expect((await one.svc('team', 'status')).text).toContain('has a date in the future');
  // An invitation that is made now is valid by the clock, not by that date.
  const { invitation } = JSON.parse((await one.svc('team', 'invite', '--json')).text) as {
    invitation: string;
  };
  const three = await machine('three');
  expect((await three.svc('team', 'join', invitation, '--machine-name', 'three')).exit).toBe(0);
  three.work('ENG-3', 'implementing');
  await until(() => sees(two, three, 'ENG-3', 'implementing'));
});

test('a record whose line could not be written is taken again', async () => {
  const { one, two } = await teamOfTwo();
  one.work('ENG-1', 'implementing');
  await until(() => sees(two, one, 'ENG-1', 'implementing'));
  const { eventsDir } = two.daemon().machine;
  renameSync(eventsDir, `${eventsDir}.away`);
  writeFileSync(eventsDir, '');
  one.work('ENG-1', 'failed');
  await until(async () => (await two.status()).why?.includes('could not be stored'));
  rmSync(eventsDir);
  renameSync(`${eventsDir}.away`, eventsDir);
  await until(() => sees(two, one, 'ENG-1', 'failed'));
});

test('a removed machine reads nothing new, and the others go on', async () => {
  const { one, two } = await teamOfTwo();
  const three = await machine('three');
  const { invitation } = JSON.parse((await one.svc('team', 'invite', '--json')).text) as {
    invitation: string;
  };
  expect((await three.svc('team', 'join', invitation, '--machine-name', 'three')).exit).toBe(0);
  one.work('ENG-1', 'implementing');
  await until(() => sees(three, one, 'ENG-1', 'implementing'));
  // Away while the keys change.
  await two.daemon().close();
  expect((await one.svc('team', 'remove', 'three')).exit).toBe(0);
  one.work('ENG-1', 'failed');
  one.work('ENG-7', 'implementing');
  await two.restart();
  await until(() => sees(two, one, 'ENG-7', 'implementing'));
  expect(await three.rowOf('one')).toMatchObject({ workers: [{ ticket: 'ENG-1', status: 'implementing' }] });
  await until(async () => ['removed', 'unreachable'].includes((await three.status()).state));
  expect((await two.teamBoard()).map(({ machine: name }) => name).toSorted()).toEqual(['one', 'two']);
  expect((await three.svc('team', 'leave')).exit).toBe(0);
  expect((await three.svc('team', 'status')).text).toContain('in no team');
});

test('after 30 days the team has a new key, and its machines go on', async () => {
  const { one, two } = await teamOfTwo();
  one.work('ENG-1', 'implementing');
  await until(() => sees(two, one, 'ENG-1', 'implementing'));
  const newest = ({ file }: Machine): number => Math.max(...file().teamKeys.map(({ epoch }) => epoch));
  const before = newest(one);
  await one.daemon().close();
  const file = one.file();
  const teamKeys = file.teamKeys.map((key) => ({ ...key, since: key.since - 30 * 86_400_000 }));
  writeFileSync(join(one.home, '.config/svc/team.json'), JSON.stringify({ ...file, teamKeys }));
  await one.restart();
  await until(() => newest(one) === before + 1 && newest(two) === before + 1);
  one.work('ENG-1', 'failed');
  two.work('ENG-2', 'implementing');
  await until(() => sees(two, one, 'ENG-1', 'failed'));
  await until(() => sees(one, two, 'ENG-2', 'implementing'));
  expect([newest(one), newest(two)]).toEqual([before + 1, before + 1]);
});

test('a machine that is removed while the relay is away is removed when the relay is back', async () => {
  const { nats, relay, one, two } = await teamOfTwo();
  await relay.stop();
  expect(await one.svc('team', 'remove', 'two')).toMatchObject({
    exit: 6,
    text: expect.stringMatching(/two was removed here, but the relay has not confirmed it[^]*tried again/),
  });
  expect((await one.health()).why).toContain('a machine that was removed may still read');
  await relayAt(nats.url, relay.port);
  await until(async () => /removed/.test((await two.status()).why ?? ''));
  await until(async () => (await one.health()).state === 'live');
  expect(await one.teamBoard()).toHaveLength(1);
});

test('a team whose relay does not store its members is not created', async () => {
  const relay = await startRecordingServer(({ method }, response) => {
    if (method !== 'POST') return answerWithJson(response, 503, { code: 'store-unavailable' });
    const url = `${relay.url}/channel`;
    answerWithJson(response, 201, { channel: 'channel', writeUrl: url, readUrl: url, readKey: null });
  });
  const one = await machine('one');
  const create = () => one.svc('team', 'create', '--relay', relay.url, '--name', 'web');
  expect(await create()).toMatchObject({ exit: 6, text: expect.stringContaining('store-unavailable') });
  expect((await one.svc('team', 'status')).text).toContain('in no team');
  expect(await create()).toMatchObject({ exit: 6, text: expect.stringContaining('store-unavailable') });
});

test('an invitation is valid once, and a machine that leaves is removed', async () => {
  const { one, two, invitation } = await teamOfTwo();
  // A machine that was admitted before it could look finds itself in the roster.
  const { channelUrl = '', secret = '' } = parseInvitation(invitation) ?? {};
  const { access } = await invitationKeys(secret);
  const looked = await fetch(`${channelUrl}/records`, { headers: { authorization: `Bearer ${access}` } });
  expect(looked.status).toBe(200);
  await looked.body?.cancel();
  const three = await machine('three');
  expect(await three.svc('team', 'join', invitation)).toMatchObject({
    exit: 1,
    text: expect.stringContaining('svc team invite'),
  });
  expect((await one.svc('team', 'leave')).text).toContain('svc team remove');
  two.work('ENG-2', 'implementing');
  await until(() => sees(one, two, 'ENG-2', 'implementing'));
  expect((await two.svc('team', 'leave')).exit).toBe(0);
  await until(async () => (await one.teamBoard()).length === 1);
  expect((await one.svc('team', 'leave')).exit).toBe(0);
});

test('a relay that has lost the roster gets it again from the administrator’s machine', async () => {
  const { nats, one, two } = await teamOfTwo();
  const streams = JSON.parse(await askNats(nats.port, '$JS.API.STREAM.NAMES', '')) as { streams: string[] };
  const purged = streams.streams.filter((stream) => stream.includes('records'));
  for (const stream of purged)
    await askNats(nats.port, `$JS.API.STREAM.PURGE.${stream}`, JSON.stringify({ filter: '*.*.*.*.*.0.*' }));
  // The relay remembers a roster for a second.
  await until(async () => {
    two.work('ENG-2', Date.now() % 2 === 0 ? 'planning' : 'researching');
    return (await two.health()).why?.includes('not-a-member');
  });
  two.work('ENG-2', 'implementing');
  one.work('ENG-1', 'implementing');
  await until(() => sees(one, two, 'ENG-2', 'implementing'));
  await until(() => sees(two, one, 'ENG-1', 'implementing'));
  await until(async () => (await two.health()).state === 'live');

  // All of it, as after a restore without the records.
  for (const stream of purged) {
    const { config } = JSON.parse(await askNats(nats.port, `$JS.API.STREAM.INFO.${stream}`, '')) as {
      config: object;
    };
    await askNats(nats.port, `$JS.API.STREAM.DELETE.${stream}`, '');
    await askNats(nats.port, `$JS.API.STREAM.CREATE.${stream}`, JSON.stringify(config));
  }
  one.work('ENG-1', 'failed');
  await until(() => sees(two, one, 'ENG-1', 'failed'));
  await until(() => sees(one, two, 'ENG-2', 'implementing'));
});

test('a clock that is set back neither silences a machine nor hides that it is gone', async () => {
  const { one, two } = await teamOfTwo();
  const heardAt = async () => Date.parse((await two.rowOf('one'))?.heardAt ?? '');
  await until(async () => (await heardAt()) > 0);
  const before = await heardAt();
  one.skipTime(-3_600_000);
  one.work('ENG-1', 'implementing');
  await until(async () => (await heardAt()) > before);
  await one.daemon().close();
  two.skipTime(-3_600_000);
  expect(await two.rowOf('one')).toMatchObject({ presence: 'here' });
  two.skipTime(150_000);
  expect(await two.rowOf('one')).toMatchObject({ presence: 'silent' });
});
