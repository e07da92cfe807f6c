// Changes of the roster, by the administrator. Removing a machine makes a new team key.
import type { JoinRequest } from '@svc/core';
import { newestKey, withKey } from './records.ts';
import { newKey } from './seal.ts';
import type { TeamFile } from './team-file.ts';

const MOST_USED = 1_000;
const MOST_REMOVED = 1_000;

export type Admitted = JoinRequest & { id: string; invitation: string };

/** Undefined if the invitation is not open any more. It still reads the roster: the new machine has to find itself there. */
export function withMember(own: TeamFile, join: Admitted): TeamFile | undefined {
  const { id, invitation, sign, agree, person, machine } = join;
  const isOpen = own.invitations.some((one) => one.id === invitation) && !own.used.includes(invitation);
  if (own.roster === null || !isOpen) return undefined;
  const members = own.roster.members.filter((member) => member.id !== id);
  const member = { id, person, machine: freeName(machine, members), role: 'member' as const, agree };
  return {
    ...own,
    used: [...own.used, invitation].slice(-MOST_USED),
    machines: { ...own.machines, [id]: sign },
    roster: { ...own.roster, members: [...members, member] },
  };
}

/** Undefined if it is not a member. */
export function withoutMember(own: TeamFile, id: string): TeamFile | undefined {
  if (own.roster === null || own.machines[id] === undefined) return undefined;
  const { [id]: _gone, ...machines } = own.machines;
  const members = own.roster.members.filter((member) => member.id !== id);
  const removed = [...own.roster.removed, id].slice(-MOST_REMOVED);
  const teamKeys = withKey(own.teamKeys, { epoch: newestKey(own).epoch + 1, key: newKey() });
  return { ...own, machines, teamKeys, roster: { ...own.roster, members, removed } };
}

/** Two machines must not have the same name. */
function freeName(name: string, members: readonly { machine: string }[]): string {
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name}-${number}`;
    if (!members.some(({ machine }) => machine === free)) return free;
  }
}

/** In any order, and with their fields in any order. */
export function sameMembers(one: readonly object[], other: readonly object[]): boolean {
  return membersText(one) === membersText(other);
}

function membersText(members: readonly object[]): string {
  return members
    .map((member) => JSON.stringify(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .toSorted()
    .join('\n');
}
