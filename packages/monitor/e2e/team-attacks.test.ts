// What somebody with the login of the relay's store can do to a team: put any bytes at any path. Every record that its
// machine did not write in this place is refused and named in health, and the board stays as it was.
import {
  formatRecordPath,
  parseRecordBody,
  type RecordKind,
  type StoredRecord,
} from '@svc/contract/relay/record';
import { sampleAttention, sampleBoard, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { channelOf, makeJoin, makeRecord, makeRoster, readKeyOf } from '../src/features/team/io/records.ts';
import { nameHash, newKey, newMachineKeys, signRecord } from '../src/features/team/io/seal.ts';
import { newestKey, type TeamFile } from '../src/features/team/io/team-file.ts';
import { type RecordRefusal, recordRefusals } from '../src/features/team/roster.ts';
import { sharedThings } from '../src/features/team/shared-things.ts';
import { machine, putIntoServer, teamOfTwo } from './team-world.ts';

const [thing] = sharedThings(sampleBoard({ attention: [sampleAttention({ id: 'forged' })] }));
const value = { key: 'forged', value: thing?.value };

test('every attack on the records is refused and named', async () => {
  const { nats, relay, one, two } = await teamOfTwo();
  const three = await machine('three');
  const invite = async (): Promise<string> =>
    (JSON.parse((await one.svc('team', 'invite', '--json')).text) as { invitation: string }).invitation;
  const openSecret = /#([^.]+)/.exec(await invite())?.[1] ?? '';
  const invitation = await invite();
  expect((await three.svc('team', 'join', invitation, '--machine-name', 'three')).exit).toBe(0);
  const removed = three.file();
  const secretOfThree = /#([^.]+)/.exec(invitation)?.[1] ?? '';
  expect((await one.svc('team', 'remove', 'three')).exit).toBe(0);
  two.work('ENG-2', 'implementing');
  await until(async () => two.file().teamKeys.length === 2);
  await until(async () => (await one.rowOf('two'))?.workers.length === 1);

  const file = two.file();
  const channel = channelOf(file);
  const names = file.roster?.names ?? '';
  const hash = await nameHash(names, 'attention', 'forged');
  const path = { kind: 'attention' as RecordKind, hash };
  const now = Date.now();
  const put = (record: StoredRecord): Promise<void> => putIntoServer(nats.port, file, record);
  const own = (more: Partial<TeamFile> = {}, version = now) =>
    makeRecord({ ...file, ...more }, path, version, value);
  const other = await newMachineKeys();
  const roster = async (of: TeamFile): Promise<StoredRecord> => (await makeRoster(of, now)).record;
  const good = await own();
  const resigned = (record: StoredRecord, at: string, change: object) =>
    signRecord(file.keys, channel, at, { ...parseRecordBody(record.body), ...change } as never);
  const before = JSON.stringify((await one.rowOf('two'))?.workers);
  /** With an invitation that is open. */
  const join = (keys: object, chosen: Partial<Record<'person' | 'machine', string>> = {}) =>
    makeJoin(
      {
        ...file,
        person: 'zoe',
        machine: 'laptop',
        ...chosen,
        keys: { ...other, ...keys } as TeamFile['keys'],
      },
      openSecret,
    );

  const attacks: [name: string, reason: RecordRefusal, record: () => Promise<StoredRecord>][] = [
    ['a forged signature', 'bad-signature', async () => ({ ...good, signature: 'A'.repeat(86) })],
    [
      'signed with the key of another machine',
      'bad-signature',
      async () => ({
        ...(await signRecord(other, channel, good.path, JSON.parse(good.body))),
        path: good.path,
      }),
    ],
    [
      'moved to another path',
      'bad-signature',
      async () => ({
        ...good,
        path: formatRecordPath({ machine: file.keys.id, kind: 'run', hash }),
      }),
    ],
    [
      'moved to another path, and signed again by its machine',
      'wrong-key',
      () =>
        resigned(good, formatRecordPath({ machine: file.keys.id, kind: 'run', hash }), { version: now + 1 }),
    ],
    ['a higher version on an old value', 'wrong-key', () => resigned(good, good.path, { version: now + 50 })],
    [
      'the version changed without a signature',
      'bad-signature',
      async () => ({ ...good, body: good.body.replace(String(now), String(now + 60)) }),
    ],
    ['a truncated value', 'unreadable', async () => ({ ...good, body: good.body.slice(0, 40) })],
    ['of another team', 'bad-signature', () => own({ channelUrl: `${relay.url}/another-channel` })],
    [
      'with a key of the team that does not exist',
      'wrong-epoch',
      () => own({ teamKeys: [{ epoch: 99, key: newKey(), since: 1 }] }),
    ],
    [
      'with a wrong key under the right number',
      'wrong-key',
      () => own({ teamKeys: [{ ...newestKey(file), key: newKey() }] }),
    ],
    [
      'under the name of another thing',
      'wrong-value',
      async () => makeRecord(file, path, now, { ...value, key: 'something else' }),
    ],
    [
      'not a value of its kind',
      'wrong-value',
      async () => makeRecord(file, path, now, { key: 'forged', value: { x: 1 } }),
    ],
    ['of a machine that nobody admitted', 'unknown-machine', () => own({ keys: other as TeamFile['keys'] })],
    ['of a removed machine', 'removed-machine', () => makeRecord(removed, path, now, value)],
    ['a join with an invitation that was used', 'used-invitation', () => makeJoin(file, secretOfThree)],
    [
      'a roster by a member',
      'bad-signature',
      async () => ({
        ...(await roster({ ...one.file(), keys: file.keys, rosterVersion: now * 2 })),
        path: formatRecordPath({ machine: file.admin, kind: 'roster', hash: 'A'.repeat(22) }),
      }),
    ],
    ['an earlier roster', 'old-version', async () => roster({ ...one.file(), rosterVersion: 5 })],
    ['a join with a key that is too short', 'wrong-join', () => join({ agreePublic: 'AAAA' })],
    ['a join with a key of small order', 'wrong-join', () => join({ agreePublic: 'A'.repeat(43) })],
    ['a join by a machine that is a member', 'wrong-join', () => join(file.keys)],
    [
      'a join with the key of another machine',
      'bad-signature',
      () => join({ signPublic: file.keys.signPublic }),
    ],
    ['a join by the id of a member as its name', 'wrong-join', () => join({}, { person: file.keys.id })],
    ['a join by the id of a member as its machine', 'wrong-join', () => join({}, { machine: file.keys.id })],
    ['a join with a name that is too long', 'wrong-join', () => join({}, { machine: 'x'.repeat(91) })],
    ['a join with an escape in its name', 'wrong-join', () => join({}, { machine: 'three\u001b[2J' })],
    ['a join with letters of two scripts', 'wrong-join', () => join({}, { person: 'реrson' })],
    ['a join as a person of the team', 'taken-name', () => join({}, { person: 'person-of-two' })],
    ['a join as one that looks like it', 'taken-name', () => join({}, { person: 'Person of TW0' })],
    ['a join as a person named like a machine', 'taken-name', () => join({}, { person: 'one' })],
    [
      'a join that is encrypted with another invitation',
      'wrong-key',
      async () => ({
        ...(await makeJoin({ ...file, keys: other as TeamFile['keys'] }, newKey())),
        path: (await join({})).path,
      }),
    ],
  ];
  const members = JSON.stringify(one.file());
  for (const [name, reason, record] of attacks) {
    const counted = await one.refusals(reason);
    await put(await record());
    // One alone may have been on its way.
    if (reason === 'old-version') await put(await record());
    await until(async () => (await one.refusals(reason)) > counted).catch((error: unknown) => {
      throw new Error(`not refused: ${name}`, { cause: error });
    });
    const health = await one.health();
    expect(health, name).toMatchObject({
      state: 'degraded',
      why: expect.stringContaining(recordRefusals[reason]),
    });
    expect(health.remedy, name).toContain('svc team status');
    expect((await one.rowOf('two'))?.attention, name).toEqual([]);
    expect(JSON.stringify((await one.rowOf('two'))?.workers), name).toBe(before);
    expect(JSON.stringify(one.file()), name).toBe(members);
  }

  // An old version, after a newer one was accepted. The roster has to be right again first.
  await put(await roster(one.file()));
  await put(await own({}, now + 2000));
  await until(async () => (await one.rowOf('two'))?.attention.length === 1);
  const counted = await one.refusals('old-version');
  await until(async () => {
    await put(good);
    return (await one.refusals('old-version')) > counted;
  });

  // An invitation after an hour.
  one.skipTime(3_700_000);
  await put(await makeJoin({ ...file, keys: other as TeamFile['keys'] }, openSecret));
  await until(async () => (await one.refusals('expired-invitation')) === 1);
  expect((await one.teamBoard()).length).toBe(2);

  // A stolen read key reads only what is encrypted, and writes nothing.
  const key = await readKeyOf(file);
  const written = await fetch(`${file.channelUrl}/${good.path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'x-svc-signature': 'A'.repeat(86) },
    body: good.body,
  });
  expect(written.status).toBe(401);
  expect((await one.svc('team', 'status')).exit).toBe(1);
});
