// A team whose members are simulated: each has keys of its own, and publishes records that are encrypted and signed as a
// daemon does, through the real relay. Its administrator is a team file for a real daemon.
import { setTimeout as sleep } from 'node:timers/promises';
import { makeRecord, makeRoster, readKeyOf } from '../../packages/monitor/src/features/team/io/records.ts';
import { putRecord } from '../../packages/monitor/src/features/team/io/relay-link.ts';
import { nameHash, newKey, newMachineKeys } from '../../packages/monitor/src/features/team/io/seal.ts';
import type { TeamFile } from '../../packages/monitor/src/features/team/io/team-file.ts';
import type { SharedThing } from '../../packages/monitor/src/features/team/shared.ts';
import { sharedThings } from '../../packages/monitor/src/features/team/shared-things.ts';
import { severalAtOnce } from '../../packages/testkit/src/script.ts';
import { sampleBoard, sampleWorker } from '../../packages/testkit/src/state/sample-board.ts';

const AT_ONCE = 32;

export type SimulatedTeam = Awaited<ReturnType<typeof simulateTeam>>;

export async function simulateTeam(relayUrl: string, size: number) {
  const keys = await Promise.all(Array.from({ length: size + 1 }, newMachineKeys));
  const [admin] = keys;
  if (admin === undefined) throw new Error('a team needs an administrator');
  const made = await fetch(`${relayUrl}/new`, {
    method: 'POST',
    body: JSON.stringify({ team: admin.signPublic }),
  });
  const { channel } = (await made.json()) as { channel: string };
  const names = newKey();
  const members = keys.map(({ id, agreePublic }, index) => ({
    id,
    person: `person-${index}`,
    machine: `machine-${index}`,
    role: index === 0 ? ('admin' as const) : ('member' as const),
    agree: agreePublic,
  }));
  const fileOf = (index: number): TeamFile => ({
    channelUrl: `${relayUrl}/${channel}`,
    keys: keys[index] as TeamFile['keys'],
    person: `person-${index}`,
    machine: `machine-${index}`,
    admin: admin.id,
    adminAgree: admin.agreePublic,
    teamKeys: [{ epoch: 1, key: teamKey, since: Date.now() }],
    rosterVersion: Date.now(),
    roster: { team: 'bench', names, members, removed: [] },
    machines: Object.fromEntries(keys.map(({ id, signPublic }) => [id, signPublic])),
    invitation: null,
    invitations: [],
    used: [],
  });
  const teamKey = newKey();
  const file = fileOf(0);
  const { record: roster } = await makeRoster(file, Date.now());
  await putRecord(file.channelUrl, roster);
  // Other relay processes remember for a second that there is no roster.
  await sleep(1000);

  let version = Date.now();
  return {
    adminFile: file,
    size,
    rosterBytes: roster.body.length,
    readKey: () => readKeyOf(file),
    /** A new version of each worker of each member; the bytes of all bodies. */
    async publish(workers: number): Promise<{ records: number; bytes: number; seconds: number }> {
      version += 1;
      const files = keys.map((_, index) => fileOf(index));
      const started = performance.now();
      const sizes = await severalAtOnce(size * workers, AT_ONCE, async (number) => {
        const own = files[1 + (number % size)];
        const thing = workerOf(number, version);
        if (own === undefined) throw new Error('no such member');
        const hash = await nameHash(names, 'worker', thing.key);
        const record = await makeRecord(own, { kind: 'worker', hash }, version, thing);
        await putRecord(own.channelUrl, record);
        return record.body.length + record.path.length + record.signature.length;
      });
      const bytes = sizes.reduce((sum, one) => sum + one, 0);
      return { records: sizes.length, bytes, seconds: (performance.now() - started) / 1000 };
    },
  };
}

function workerOf(number: number, seq: number): SharedThing {
  const worker = sampleWorker({ ticket: `BENCH-${number}`, branch: `bench-${number}`, lastSeq: seq });
  const [thing] = sharedThings(sampleBoard({ workers: [worker] }));
  if (thing === undefined) throw new Error('a worker is shared');
  return thing;
}
