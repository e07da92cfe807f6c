// The files of a team of two: kim, the administrator, on machine one, and mia on machine two.
import { newKey, newMachineKeys } from '../io/seal.ts';
import type { TeamFile } from '../io/team-file.ts';

export async function testTeam(
  channelUrl: string,
  since: number = Date.now(),
): Promise<[admin: TeamFile, member: TeamFile]> {
  const [one, two] = [await newMachineKeys(), await newMachineKeys()];
  const members = [
    { id: one.id, person: 'kim', machine: 'one', role: 'admin' as const, agree: one.agreePublic },
    { id: two.id, person: 'mia', machine: 'two', role: 'member' as const, agree: two.agreePublic },
  ];
  const shared = {
    channelUrl,
    admin: one.id,
    adminAgree: one.agreePublic,
    teamKeys: [{ epoch: 1, key: newKey(), since }],
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
