import { parseRecordPath } from '@svc/contract/relay/record';
import { createRandom } from '@svc/testkit';
import { expect, test } from 'vitest';
import { HEARTBEAT_MS, type Heartbeat } from '../roster.ts';
import { recordsDigest } from './seal.ts';
import { createWatch, type FindingKind, TURNS } from './watch.ts';

const [SELF, OTHER, THIRD] = ['s', 'o', 't'].map((letter) => letter.repeat(22)) as [string, string, string];
const START = Date.parse('2026-01-02T09:00:00.000Z');
const own = { id: SELF, rosterVersion: 5, epoch: 1, epochSince: START };

/** A machine that publishes, with its own clock, seen by a watch with another. */
function world() {
  const time = { wall: START, tick: 1_000 };
  const sender = { wallAhead: 0, slept: 0, instance: 'a', roster: 5, versions: new Map<string, number>() };
  let reread = 0;
  const watch = createWatch({
    heartbeatMs: HEARTBEAT_MS,
    now: () => time.wall,
    tick: () => time.tick,
    onMissing: () => (reread += 1),
  });
  watch.keepMachines(new Set([SELF, OTHER, THIRD]));
  watch.sentBeat(SELF, 1);
  watch.sawOwnBeat(SELF, 1);
  const pathOf = (name: string): string => `${OTHER}.4.${name.padEnd(22, 'A')}`;
  const pass = (ms: number): void => {
    time.wall += ms;
    time.tick += ms;
  };
  const beat = (change: Partial<Heartbeat> = {}): Heartbeat => ({
    version: '1',
    at: new Date(time.wall + sender.wallAhead).toISOString(),
    instance: sender.instance,
    tick: time.tick - sender.slept,
    roster: sender.roster,
    records: {
      count: sender.versions.size,
      digest: recordsDigest([...sender.versions].map(([name, version]) => [pathOf(name), version])),
      pending: 0,
    },
    heard: { [SELF]: 1 },
    ...change,
  });
  return {
    time,
    sender,
    watch,
    beat,
    pass,
    reread: () => reread,
    publish: (name: string, version: number, isShown = true): void => {
      sender.versions.set(name, version);
      const path = parseRecordPath(pathOf(name));
      if (isShown && path !== undefined) watch.sawRecord(path, pathOf(name), version, false);
    },
    hear: (shown = beat(), machine = OTHER): void => watch.heard(machine, time.wall, shown, true, own),
    kinds: (machine = OTHER): FindingKind[] =>
      watch.findings().flatMap((finding) => (finding.machine === machine ? [finding.kind] : [])),
  };
}

test('a record that is left out is noticed at the second heartbeat, and forgotten when it comes', () => {
  const { publish, hear, pass, kinds, reread } = world();
  publish('one', 1);
  hear();
  publish('two', 2, false);
  pass(HEARTBEAT_MS);
  hear();
  expect([kinds(), reread()]).toEqual([[], 1]);
  pass(HEARTBEAT_MS);
  hear();
  expect(kinds()).toEqual(['differs']);
  publish('two', 2);
  pass(HEARTBEAT_MS);
  hear();
  expect(kinds()).toEqual([]);
});

test('two heartbeats shortly after each other count as one', () => {
  const { publish, hear, pass, kinds } = world();
  publish('one', 1);
  hear();
  publish('two', 2, false);
  pass(HEARTBEAT_MS);
  hear();
  pass(HEARTBEAT_MS / 4);
  hear();
  expect(kinds()).toEqual([]);
  pass(HEARTBEAT_MS / 4);
  hear();
  expect(kinds()).toEqual(['differs']);
});

test('an old version, and a thing that was removed and is still shown, are noticed too', () => {
  for (const damage of [
    ({ publish }: ReturnType<typeof world>) => publish('one', 2, false),
    ({ sender }: ReturnType<typeof world>) => void sender.versions.delete('one'),
  ]) {
    const made = world();
    made.publish('one', 1);
    made.hear();
    damage(made);
    for (let times = 0; times < 2; times += 1) {
      made.pass(HEARTBEAT_MS);
      made.hear();
    }
    expect(made.kinds()).toEqual(['differs']);
  }
});

test('heartbeats of before a start, sent again at their pace, show nobody as present; a machine that hears this one is', () => {
  const { beat, pass, watch, time, sender } = world();
  sender.wallAhead = -3_600_000;
  const old = (): Heartbeat => beat({ heard: { [SELF]: 0 } });
  const replayed = [old(), old(), old()].map((one, index) => ({
    ...one,
    at: new Date(START + index * HEARTBEAT_MS).toISOString(),
    tick: 1_000 + index * HEARTBEAT_MS,
  }));
  time.wall += 7_200_000;
  for (const [index, one] of replayed.entries()) {
    watch.heard(OTHER, index + 1, one, index > 0, own);
    pass(HEARTBEAT_MS);
  }
  expect(time.wall - (watch.heardAt(OTHER) ?? 0)).toBeGreaterThan(7_000_000);
  // Its clock is an hour behind, which nothing distinguishes from a delay until it has heard this machine.
  watch.heard(OTHER, 10, beat(), true, own);
  pass(HEARTBEAT_MS);
  watch.heard(OTHER, 11, beat(), true, own);
  expect(time.wall - (watch.heardAt(OTHER) ?? 0)).toBe(0);
});

test('heartbeats that were held are late: the machine is not heard now, and the second is a finding', () => {
  const { beat, hear, pass, watch, kinds, time } = world();
  hear();
  pass(HEARTBEAT_MS);
  hear();
  const heardAt = time.wall;
  pass(HEARTBEAT_MS);
  const held = [beat()];
  pass(HEARTBEAT_MS);
  held.push(beat());
  pass(120_000);
  hear(held[0]);
  expect(watch.heardAt(OTHER)).toBe(heardAt + HEARTBEAT_MS);
  expect(kinds()).toEqual([]);
  pass(HEARTBEAT_MS);
  hear(held[1]);
  expect(kinds()).toEqual(['late']);
  expect(time.wall - (watch.heardAt(OTHER) ?? 0)).toBeGreaterThan(watch.silentMs);
});

test('a held heartbeat is late also if the one before was only in what the relay had kept', () => {
  const { beat, hear, pass, watch, kinds, time } = world();
  const kept = beat();
  pass(10_000);
  watch.heard(OTHER, 1, kept, false, own);
  const held = [beat(), { ...beat(), tick: beat().tick + 1 }];
  pass(120_000);
  for (const late of held) {
    hear(late);
    expect(time.wall - (watch.heardAt(OTHER) ?? 0)).toBeGreaterThan(watch.silentMs);
    pass(HEARTBEAT_MS);
  }
  expect(kinds()).toEqual(['late']);
});

test('a list of members that is not the newest is noticed, here and there', () => {
  const { sender, hear, pass, kinds } = world();
  sender.roster = 4;
  hear();
  pass(HEARTBEAT_MS);
  hear();
  expect(kinds()).toEqual(['behind']);
  sender.roster = 9;
  pass(HEARTBEAT_MS);
  hear();
  pass(HEARTBEAT_MS);
  hear();
  expect(kinds()).toEqual(['ahead']);
});

test('a machine that another one hears is missed here', () => {
  const { beat, hear, pass, kinds, time } = world();
  hear();
  for (let times = 0; times < 2; times += 1) {
    pass(HEARTBEAT_MS);
    hear({ ...beat({ heard: { [OTHER]: time.wall, [SELF]: time.wall } }), records: empty }, THIRD);
  }
  expect(kinds()).toEqual(['unheard']);
  hear();
  hear({ ...beat({ heard: { [OTHER]: time.wall } }), records: empty }, THIRD);
  expect(kinds()).toEqual([]);
});

const empty = { count: 0, digest: recordsDigest([]), pending: 0 };

test('a record with an earlier key, later than the roster that ended it by more than a minute', () => {
  const { hear, pass, watch, kinds, time } = world();
  hear();
  const ended = { ...own, epoch: 2, epochSince: time.wall };
  const used = (version: number, epoch: number, isLive: boolean): void =>
    watch.sawKey(OTHER, { version, epoch }, isLive, ended);
  used(time.wall + 60_000, 1, false);
  pass(HEARTBEAT_MS);
  expect(kinds()).toEqual([]);
  used(time.wall + 31_000, 1, false);
  pass(HEARTBEAT_MS);
  expect(kinds()).toEqual(['old-key']);
  used(time.wall, 2, true);
  expect(kinds()).toEqual([]);
});

type FrozenStep = 'sent' | 'shown' | 'an old one shown' | 'opened' | number;

/** A number: turns of the process. A heartbeat has 16. */
test.each<[string, FrozenStep[], isFinding: boolean, rereads: number]>([
  ['shown at once', ['sent', 'shown', 16, 'sent', 'shown', 16], false, 0],
  ['shown at the next heartbeat', ['sent', 16, 'shown', 'sent', 'shown', 16], false, 1],
  ['one is not shown', ['sent', 15], false, 1],
  ['two are not shown', ['sent', 16, 'sent', 3], true, 1],
  [
    'two are not shown, and an older one is shown again',
    ['sent', 16, 'sent', 'an old one shown', 3],
    true,
    1,
  ],
  ['two, but this process had no turn since', ['sent', 'sent', 2], false, 0],
  ['many, but this process has no turn at all', ['sent', 'sent', 'sent', 'sent'], false, 0],
  ['two, and the stream was just opened', ['sent', 16, 'sent', 2, 'opened', 2], false, 1],
  ['two, and the opened stream shows nothing', ['sent', 8, 'opened', 8, 'sent', 3], true, 2],
  ['two, shown at last', ['sent', 16, 'sent', 16, 'shown'], false, 2],
])('own heartbeats: %s', (_, steps, isFinding, rereads) => {
  const { watch, time, kinds, reread } = world();
  let version = 1;
  for (const step of steps) {
    if (step === 'sent') watch.sentBeat(SELF, (version += 1));
    else if (step === 'shown') watch.sawOwnBeat(SELF, version);
    else if (step === 'an old one shown') watch.sawOwnBeat(SELF, 1);
    else if (step === 'opened') watch.opened();
    else for (let turn = 0; turn < step; turn += 1) watch.turn();
    // How long it takes does not matter.
    time.tick += 10 * HEARTBEAT_MS;
  }
  expect([kinds(SELF), reread()]).toEqual([isFinding ? ['frozen'] : [], rereads]);
});

test('two heartbeats and the turns after them are over before 70 seconds', () => {
  const { watch, kinds } = world();
  const stepMs = HEARTBEAT_MS / TURNS;
  let ms = 0;
  for (; !kinds(SELF).includes('frozen'); ms += stepMs) {
    // The relay stops showing anything just after the first.
    if (ms > 0 && ms % HEARTBEAT_MS === 0) watch.sentBeat(SELF, 1 + ms);
    watch.turn();
  }
  expect(ms).toBeLessThan(70_000);
});

test('clocks that are set, sleep, restarts, lost heartbeats and new rosters accuse nobody', () => {
  const random = createRandom(7);
  const { sender, watch, publish, beat, pass, time } = world();
  let roster = 5;
  for (let round = 0; round < 3_000; round += 1) {
    const chance = random.below(8);
    if (chance === 0) sender.wallAhead = (random.below(5) - 2) * 3_600_000;
    if (chance === 1) time.wall += (random.below(5) - 2) * 3_600_000;
    if (chance === 2) {
      // The machine sleeps, and is silent meanwhile.
      const ms = random.below(7_200_000);
      sender.slept += ms;
      pass(ms);
    }
    if (chance === 3) {
      sender.instance = `process-${round}`;
      sender.slept = time.tick;
    }
    if (chance === 4) time.tick += random.below(600_000);
    if (chance === 5) roster += 1;
    // It has a new list at its next heartbeat.
    sender.roster = chance === 5 ? roster - 1 : roster;
    publish(`thing-${random.below(5)}`, round + 10);
    pass(HEARTBEAT_MS + random.below(4_000));
    if (chance > 5 && random.chance(0.5)) continue;
    watch.heard(OTHER, round, beat(), true, { ...own, rosterVersion: roster });
    expect([round, watch.findings()]).toEqual([round, []]);
  }
});
