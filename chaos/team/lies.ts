// A relay that lies to the last machine: it leaves records out, stands still, releases heartbeats late, and keeps it on an
// earlier list of members. Each lie must be noticed by a member within 70 seconds.
import { setTimeout as sleep } from 'node:timers/promises';
import { recordKinds } from '../../packages/core/src/team/record.ts';
import { SILENT_MS } from '../../packages/core/src/team/roster.ts';
import type { ShownRecord } from '../../packages/testkit/src/wire/lying-relay.ts';
import type { Machine, TeamWorld } from './world.ts';

const LOOK_MS = 1_000;
/** Until everything is right again after a lie. */
const HEAL_MS = 180_000;
/** One look more, and what a busy machine takes. */
const LATEST_MS = SILENT_MS + 5_000;

/** What is wrong for other reasons than a relay that lies. */
const ordinary = /not published|has not confirmed|date in the future|could not be done|has not taken/;

/** Whom a machine accuses, or what it misses. */
export async function accusations(machine: Machine): Promise<string[]> {
  const status = await machine.status().catch(() => null);
  return (status?.problems ?? []).map(({ text }) => text).filter((text) => !ordinary.test(text));
}

type Lie = {
  name: string;
  decide: (record: ShownRecord) => 'pass' | 'drop' | 'hold';
  keepsOpen?: boolean;
  /** Something that the relay does not show. */
  act?: () => Promise<void>;
  isNoticed: () => Promise<boolean>;
};

export async function tryLies(world: TeamWorld): Promise<{ name: string; seconds: number | null }[]> {
  const { machines, liar } = world;
  const [victim, admin] = [machines.at(-1), machines[0]];
  if (victim === undefined || admin === undefined) return [];
  const members = (await admin.status())?.members ?? [];
  const adminId = members.find(({ self }) => self)?.id ?? '';
  const isAdmins = ({ machine, kind }: ShownRecord, ...kinds: string[]): boolean =>
    machine === adminId && kinds.includes(recordKinds[kind] ?? '');
  const saysAny = async (machine: Machine, text: RegExp): Promise<boolean> =>
    (await accusations(machine)).some((accusation) => text.test(accusation));
  const lies: Lie[] = [
    {
      name: 'records of a machine are left out',
      decide: (record) => (isAdmins(record, 'worker', 'run', 'attention', 'session') ? 'drop' : 'pass'),
      act: async () => admin.workers.slice(0, 3).forEach((worker) => admin.change(worker)),
      isNoticed: () => saysAny(victim, /does not show everything/),
    },
    {
      name: 'heartbeats of a machine are held',
      decide: (record) => (isAdmins(record, 'machine') ? 'hold' : 'pass'),
      isNoticed: () => saysAny(victim, /heard by another machine/),
    },
    {
      name: 'the stream stands still',
      decide: () => 'drop',
      keepsOpen: true,
      isNoticed: () => saysAny(victim, /shows nothing of it/),
    },
    {
      name: 'a machine is kept on the earlier list of members',
      decide: ({ kind }) => (recordKinds[kind] === 'roster' ? 'drop' : 'pass'),
      keepsOpen: true,
      act: async () => void (await admin.ask('/api/team/invite', {})),
      isNoticed: () => saysAny(admin, /earlier list of members/),
    },
  ];
  const results: { name: string; seconds: number | null }[] = [];
  for (const { name, decide, keepsOpen = false, act, isNoticed } of lies) {
    liar.lie(decide, { keepsOpen });
    await act?.();
    results.push({ name, seconds: await secondsUntil(isNoticed, LATEST_MS) });
    liar.heal();
    const healed = await secondsUntil(async () => {
      const all = await Promise.all(machines.map(accusations));
      return all.every((found) => found.length === 0);
    }, HEAL_MS);
    if (healed === null) results.push({ name: `${name}: is forgotten afterwards`, seconds: null });
  }
  return results;
}

/** Null: not within the time. */
async function secondsUntil(isSo: () => Promise<boolean>, mostMs: number): Promise<number | null> {
  const start = performance.now();
  while (performance.now() - start < mostMs) {
    if (await isSo()) return (performance.now() - start) / 1000;
    await sleep(LOOK_MS);
  }
  return null;
}
