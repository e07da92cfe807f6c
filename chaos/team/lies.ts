// A relay that lies to the last machine: it leaves records out, holds heartbeats, releases them late, stands still, and keeps
// the machine on an earlier list of members. Each lie must be noticed by a member within 70 seconds.
import { setTimeout as sleep } from 'node:timers/promises';
import { recordKinds } from '@svc/contract/relay/record';
import { SILENT_MS } from '../../packages/monitor/src/features/team/roster.ts';
import type { ShownRecord } from '../../packages/testkit/src/wire/lying-relay.ts';
import type { Machine, TeamWorld } from './world.ts';

const LOOK_MS = 1_000;
/** Until everything is right again after a lie. */
const HEAL_MS = 180_000;
/** How late a heartbeat is released: later than the next one is written. */
const RELEASED_AFTER_MS = 45_000;

/**
 * What a machine reports of itself because the script cuts its way to the relay, ends relays and sets clocks. Nothing else
 * is left out: what names another machine, or the relay's operator, is an accusation, also if it is true.
 */
const noAccusations: { text: RegExp; isOnlyAdmins?: true; because: string }[] = [
  {
    text: /^\d+ changes are not published: (?:The relay of the team cannot be reached|The relay refused a record \((?:failed|busy|engine-unavailable|50\d)\))/,
    because:
      'it cannot reach a relay, which the script cuts off, or a relay that is starting cannot store yet',
  },
  {
    text: /^the relay has not confirmed the newest list of members, .*: (?:The relay of the team cannot be reached|The relay refused a record \((?:failed|busy|engine-unavailable|50\d)\))/,
    isOnlyAdmins: true,
    because: 'the same, for the list that only the administrator writes',
  },
  {
    text: /^the list of members has a date in the future/,
    isOnlyAdmins: true,
    because: 'it names the own clock, which the script has set hours ahead and back again',
  },
  {
    text: /^\S+ has changes that the relay has not taken/,
    because: 'that machine says so itself in two heartbeats that it has signed: nobody else is blamed',
  },
];

/** Whom a machine accuses, or what it misses. */
export async function accusations(machine: Machine): Promise<string[]> {
  const status = await machine.status().catch(() => null);
  if (status === null) return [];
  const { problems, role, state, why } = status;
  const accused = problems
    .map(({ text }) => text)
    .filter(
      (text) =>
        !noAccusations.some((one) => one.text.test(text) && (role === 'admin' || one.isOnlyAdmins !== true)),
    );
  // A machine that believes that it was removed blames the administrator.
  return state === 'removed' || why?.includes('removed') === true ? [...accused, why ?? state] : accused;
}

/** Records that a machine refuses: "someone may be changing records at the relay". They are named for an hour. */
export async function refusals(machine: Machine): Promise<string[]> {
  const status = await machine.status().catch(() => null);
  return (status?.refused ?? []).map((one) => `refuses records of ${one.machine}: ${one.reason}`);
}

/** What shows that a lie was noticed. `since`: counted from then; undefined: it has not come to that yet. */
type Sign = { name: string; isSeen: () => Promise<boolean>; since?: () => number | undefined };

type Lie = {
  name: string;
  decide: (record: ShownRecord) => 'pass' | 'drop' | 'hold';
  keepsOpen?: boolean;
  /** Something that the relay does not show. */
  act?: () => Promise<void>;
  /** What the relay does from look to look. */
  meanwhile?: () => void;
  signs: Sign[];
};

export type LieResult = { name: string; seconds: number | null };

/** `report`: of each when it is known. */
export async function tryLies(world: TeamWorld, report: (result: LieResult) => void): Promise<void> {
  const { machines, liar } = world;
  const [victim, admin] = [machines.at(-1), machines[0]];
  if (victim === undefined || admin === undefined) return;
  const members = (await admin.status())?.members ?? [];
  const adminId = members.find(({ self }) => self)?.id ?? '';
  const isAdmins = ({ machine, kind }: ShownRecord, ...kinds: string[]): boolean =>
    machine === adminId && kinds.includes(recordKinds[kind] ?? '');
  const says = (machine: Machine, text: RegExp): Sign => ({
    name: `${machine === admin ? 'the administrator' : 'the machine'}: ${text.source}`,
    isSeen: async () => (await accusations(machine)).some((accusation) => text.test(accusation)),
  });
  const heldSince: number[] = [];
  let releasedAt: number | undefined;
  const lies: Lie[] = [
    {
      name: 'records of a machine are left out',
      decide: (record) => (isAdmins(record, 'worker', 'run', 'attention', 'session') ? 'drop' : 'pass'),
      act: async () => admin.workers.slice(0, 3).forEach((worker) => admin.change(worker)),
      signs: [says(victim, /does not show everything/)],
    },
    {
      name: 'heartbeats of a machine are held',
      decide: (record) => (isAdmins(record, 'machine') ? 'hold' : 'pass'),
      signs: [says(victim, /heard by another machine/)],
    },
    {
      name: `heartbeats of a machine are released ${RELEASED_AFTER_MS / 1000} s late`,
      decide(record) {
        if (!isAdmins(record, 'machine')) return 'pass';
        heldSince.push(performance.now());
        return 'hold';
      },
      meanwhile() {
        while (performance.now() - (heldSince[0] ?? Number.POSITIVE_INFINITY) > RELEASED_AFTER_MS) {
          heldSince.shift();
          if (liar.release()) releasedAt ??= performance.now();
        }
      },
      signs: [
        says(victim, /heard by another machine|arrives late/),
        // Only what has arrived can be late.
        { ...says(victim, /arrives late/), since: () => releasedAt },
      ],
    },
    {
      name: 'the stream stands still',
      decide: () => 'drop',
      keepsOpen: true,
      signs: [says(victim, /shows nothing of it/)],
    },
    {
      name: 'a machine is kept on the earlier list of members',
      decide: ({ kind }) => (recordKinds[kind] === 'roster' ? 'drop' : 'pass'),
      keepsOpen: true,
      act: async () => void (await admin.ask('/api/team/invite', {})),
      signs: [says(admin, /earlier list of members/)],
    },
  ];
  for (const { name, decide, keepsOpen = false, act, meanwhile, signs } of lies) {
    const start = performance.now();
    liar.lie(decide, { keepsOpen });
    await act?.();
    for (const { name: sign, isSeen, since } of signs) {
      const from = (): number => (since === undefined ? start : (since() ?? performance.now()));
      const look = async (): Promise<boolean> => {
        meanwhile?.();
        return isSeen();
      };
      report({ name: `${name} (${sign})`, seconds: await secondsUntil(look, SILENT_MS, from) });
    }
    liar.heal();
    const healed = async (): Promise<boolean> =>
      (await Promise.all(machines.map(accusations))).every((found) => found.length === 0);
    report({ name: `${name}: forgotten`, seconds: await secondsUntil(healed, HEAL_MS) });
  }
}

/** Null: not within the time, which is counted from a moment that may still come, but comes within the same time. */
async function secondsUntil(
  isSo: () => Promise<boolean>,
  mostMs: number,
  from?: () => number,
): Promise<number | null> {
  const start = performance.now();
  const beganAt = from ?? (() => start);
  while (performance.now() - beganAt() < mostMs && performance.now() - start < 2 * mostMs) {
    const holds = await isSo();
    const tookMs = performance.now() - beganAt();
    if (holds) return tookMs <= mostMs ? tookMs / 1000 : null;
    await sleep(LOOK_MS);
  }
  return null;
}
