// A relay that does not show what it has: it leaves records out, stands still, releases them late, or shows one machine an
// earlier list of members. Its members notice within two heartbeats, and nobody is accused while it is honest.
import { recordKinds } from '@svc/contract/relay/record';
import { natsForTest, startLyingRelay, until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { HEARTBEAT_MS, SILENT_MS } from '../src/features/team/roster.ts';
import { type Machine, machine, relayAt } from './team-world.ts';

/** Shorter than in use, so that the test does not wait for a minute. */
const BEAT_MS = 3_000;
/** 70 seconds of use; then the next look at health. */
const NOTICED_MS = (SILENT_MS / HEARTBEAT_MS) * BEAT_MS + 4_000;
const kindOf = (number: number) => recordKinds[number];

/** Machine two sees the relay through somebody who may lie. */
async function teamBehindLiar() {
  const nats = await natsForTest();
  const relay = await relayAt(nats.url);
  const liar = await startLyingRelay(() => [relay.port]);
  onTestFinished(() => liar.stop());
  const [one, two, three] = [
    await machine('one', { heartbeatMs: BEAT_MS }),
    await machine('two', { heartbeatMs: BEAT_MS }),
    await machine('three', { heartbeatMs: BEAT_MS }),
  ];
  expect((await one.svc('team', 'create', '--relay', relay.url, '--machine-name', 'one')).exit).toBe(0);
  const join = async (who: Machine, url: string): Promise<void> => {
    const { invitation } = JSON.parse((await one.svc('team', 'invite', '--json')).text) as {
      invitation: string;
    };
    const joined = await who.svc(
      'team',
      'join',
      invitation.replace(relay.url, url),
      '--machine-name',
      who.name,
    );
    expect(joined.exit).toBe(0);
  };
  await join(two, `http://127.0.0.1:${liar.port}`);
  await join(three, relay.url);
  one.work('ENG-1', 'implementing');
  await until(async () => (await two.rowOf('one'))?.workers.length === 1);
  await until(async () => (await two.rowOf('one'))?.presence === 'here');
  return { nats, relay, liar, one, two, three, join };
}

/** How long it took until health says it. */
async function noticed(on: Machine, text: string): Promise<number> {
  const start = performance.now();
  await until(async () => (await on.health()).why?.includes(text));
  return performance.now() - start;
}

test('records that are left out are noticed, and what is shown is never called nothing', async () => {
  const { liar, one, two } = await teamBehindLiar();
  const { id } = one.file().keys;
  const shared = ['run', 'worker', 'session', 'attention'];
  liar.lie((record) =>
    record.machine === id && shared.includes(kindOf(record.kind) ?? '') ? 'drop' : 'pass',
  );
  one.work('ENG-5', 'implementing');
  expect(await noticed(two, 'does not show everything that one has published')).toBeLessThan(NOTICED_MS);
  expect(await two.health()).toMatchObject({
    state: 'degraded',
    remedy: expect.stringContaining('svc team'),
  });
  expect(await two.rowOf('one')).toMatchObject({
    presence: 'incomplete',
    doubt: expect.stringContaining('does not show everything'),
  });
  for (const words of [
    ['board', '--machine', 'one'],
    ['attention', '--machine', 'one'],
  ]) {
    const { text } = await two.svc(...words);
    expect(text).toMatch(/one \(person-of-one\): the relay does not show everything/);
    expect(text).not.toMatch(/no agents|Nothing needs you/);
  }
  expect((await two.svc('team', 'status')).exit).toBe(1);
  expect((await one.health()).state).toBe('live');
  liar.heal();
  await until(async () => (await two.rowOf('one'))?.workers.length === 2);
  await until(async () => (await two.health()).state === 'live');
});

test('heartbeats that were held and are released show nobody as present', async () => {
  const { liar, one, two } = await teamBehindLiar();
  const { id } = one.file().keys;
  await until(async () => (await two.health()).state === 'live');
  liar.lie((record) => (record.machine === id && kindOf(record.kind) === 'machine' ? 'hold' : 'pass'));
  const heldFrom = performance.now() + BEAT_MS;
  expect(await noticed(two, 'one is heard by another machine')).toBeLessThan(NOTICED_MS);
  await until(async () => (await two.rowOf('one'))?.presence === 'silent');
  await one.daemon().close();
  // What is released from here on is older than a machine may be that counts as present.
  await until(() => performance.now() > heldFrom + NOTICED_MS);
  const presences = new Set<string | undefined>();
  await until(async () => {
    liar.release();
    const end = performance.now() + BEAT_MS;
    await until(async () => {
      presences.add((await two.rowOf('one'))?.presence);
      return performance.now() > end;
    });
    return (await two.health()).why?.includes('what one publishes arrives late');
  });
  expect(presences).not.toContain('here');
});

test('a machine that the relay keeps on the earlier list of members is named by the others, and notices itself', async () => {
  const { liar, one, two } = await teamBehindLiar();
  const { rosterVersion } = two.file();
  liar.lie(({ kind, version }) => (kindOf(kind) === 'roster' && version > rosterVersion ? 'drop' : 'pass'), {
    keepsOpen: true,
  });
  expect((await one.svc('team', 'remove', 'three')).exit).toBe(0);
  two.work('AFTER-1', 'implementing');
  const [there, here] = await Promise.all([
    noticed(one, 'two still uses an earlier list of members'),
    noticed(two, 'shows nothing of it'),
  ]);
  expect(there).toBeLessThan(NOTICED_MS);
  expect(here).toBeLessThan(NOTICED_MS);
  expect(two.file().rosterVersion).toBe(rosterVersion);
  liar.heal();
  await until(async () => two.file().teamKeys.length === 2);
  await until(async () => (await one.health()).state === 'live');
});

test('a stream that stands still, and a list of members that was held back, are noticed and made good', async () => {
  const { liar, one, two } = await teamBehindLiar();
  liar.lie(() => 'drop', { keepsOpen: true });
  expect(await noticed(two, 'shows nothing of it')).toBeLessThan(NOTICED_MS);
  liar.heal();
  await until(async () => (await two.health()).state === 'live');
  // With an invitation the list changes, and the key does not.
  liar.lie(({ kind }) => (kindOf(kind) === 'roster' ? 'drop' : 'pass'), { keepsOpen: true });
  expect((await one.svc('team', 'invite')).exit).toBe(0);
  const [there, here] = await Promise.all([
    noticed(one, 'two still uses an earlier list of members'),
    noticed(two, 'has a newer list of members than this machine'),
  ]);
  expect(Math.max(there, here)).toBeLessThan(NOTICED_MS);
  liar.heal();
  await until(async () => two.file().rosterVersion === one.file().rosterVersion);
  await until(async () => (await two.health()).state === 'live');
  await until(async () => (await one.health()).state === 'live');
});

test('nobody is accused: members join, leave and restart, relays restart, and clocks are hours apart', async () => {
  const { nats, relay, one, two, three, join } = await teamBehindLiar();
  const accused = new Set<string>();
  const look = async (): Promise<void> => {
    for (const on of [one, two])
      for (const { text } of (await on.status())?.problems ?? []) accused.add(`${on.name}: ${text}`);
  };
  const beats = async (count: number): Promise<void> => {
    const end = performance.now() + count * BEAT_MS;
    await until(async () => {
      await look();
      return performance.now() > end;
    });
  };
  one.skipTime(3_600_000);
  two.skipTime(-7_200_000);
  await beats(3);
  expect((await three.svc('team', 'leave')).exit).toBe(0);
  await beats(2);
  await join(three, relay.url);
  three.work('ENG-3', 'implementing');
  await two.daemon().close();
  await two.restart();
  await beats(2);
  await relay.stop();
  await relayAt(nats.url, relay.port);
  for (let count = 0; count < 20; count += 1) one.work(`ENG-${count + 10}`, 'implementing');
  await beats(3);
  expect([...accused].filter((text) => !/not published|has not confirmed/.test(text))).toEqual([]);
  await until(async () => (await two.rowOf('one'))?.workers.length === 21);
}, 240_000);
