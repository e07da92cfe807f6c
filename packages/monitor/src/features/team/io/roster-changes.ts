// Changes of the roster, by the administrator. Removing a machine makes a new team key.

import type { Board } from '../../../kernel/board/board.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import { looksOf } from '../names.ts';
import { INVITATION_MS, type JoinRequest } from '../roster.ts';
import { newKey } from './seal.ts';
import { newestKey, type TeamFile, withKey } from './team-file.ts';

const MOST_USED = 1_000;
const MOST_REMOVED = 1_000;
const DAY_MS = 86_400_000;
/** A key is used for this long. */
const KEY_MS = 30 * DAY_MS;
/** A clock may be set back by this much. */
const CLOCK_MS = 60_000;

export type Admitted = JoinRequest & { id: string; invitation: string };

/**
 * Whether a machine may not be admitted under its names: what a name gives must not be given to somebody else. A machine of
 * a person who is a member needs an invitation for that person.
 */
export function isNameTaken(own: TeamFile, { id, person, invitation }: Admitted): boolean {
  const looks = looksOf(person);
  const invited = own.invitations.find((one) => one.id === invitation)?.person ?? null;
  if (invited !== null) return invited !== person;
  return (own.roster?.members ?? []).some(
    (member) => member.id === id || looksOf(member.person) === looks || looksOf(member.machine) === looks,
  );
}

/** Undefined if the invitation is not open any more. It still reads the roster: the new machine has to find itself there. */
export function withMember(own: TeamFile, join: Admitted): TeamFile | undefined {
  const { id, invitation, sign, agree, person, machine } = join;
  const isOpen = own.invitations.some((one) => one.id === invitation) && !own.used.includes(invitation);
  if (own.roster === null || !isOpen || isNameTaken(own, join)) return undefined;
  const { members } = own.roster;
  const others = members.filter((member) => member.person !== person);
  const names = [...members.map((member) => member.machine), ...others.map((member) => member.person)];
  const member = { id, person, machine: freeName(machine, names), role: 'member' as const, agree };
  return {
    ...own,
    used: [...own.used, invitation].slice(-MOST_USED),
    machines: { ...own.machines, [id]: sign },
    roster: { ...own.roster, members: [...members, member] },
  };
}

/** Undefined if it is not a member. */
export function withoutMember(own: TeamFile, id: string, now: number): TeamFile | undefined {
  if (own.roster === null || own.machines[id] === undefined) return undefined;
  const { [id]: _gone, ...machines } = own.machines;
  const members = own.roster.members.filter((member) => member.id !== id);
  const removed = [...own.roster.removed, id].slice(-MOST_REMOVED);
  return withNewKey({ ...own, machines, roster: { ...own.roster, members, removed } }, now);
}

function withNewKey(own: TeamFile, now: number): TeamFile {
  const newest = { epoch: newestKey(own).epoch + 1, key: newKey(), since: now };
  return { ...own, teamKeys: withKey(own.teamKeys, newest) };
}

/**
 * What time changes, by the clock: invitations that have expired, or that a wrong clock has made, are no longer listed;
 * what is left of an invitation is remembered for a day, to name its use; an old key is replaced. Undefined: nothing.
 */
export function withTime(own: TeamFile, now: number): TeamFile | undefined {
  const isOfWrongClock = (at: number): boolean => at > now + CLOCK_MS + INVITATION_MS;
  const invitations = own.invitations
    .filter(({ expiresAt }) => expiresAt > now - DAY_MS && !isOfWrongClock(expiresAt))
    .map((one) => (one.listed && one.expiresAt < now ? { ...one, listed: false } : one));
  const { since } = newestKey(own);
  const isKeyOld = now - since > KEY_MS || since > now + DAY_MS;
  const next = { ...own, invitations };
  if (isKeyOld) return withNewKey(next, now);
  return listedIn(own) === listedIn(next) ? undefined : next;
}

function listedIn({ invitations }: TeamFile): string {
  return invitations
    .filter(({ listed }) => listed)
    .map(({ id }) => id)
    .join();
}

/** Whether the roster was made while the clock was ahead. */
export function isAhead({ rosterVersion }: TeamFile, now: number): boolean {
  return rosterVersion > now + CLOCK_MS;
}

/** Two machines must not have the same name, nor one that looks the same, and none that of another person. */
function freeName(name: string, taken: readonly string[]): string {
  const looks = new Set(taken.map(looksOf));
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name}-${number}`;
    if (!looks.has(looksOf(free))) return free;
  }
}

/** The line of a roster; none if the board has these members. */
export function rosterLines(board: Board, { roster, rosterVersion }: TeamFile): EventDraft[] {
  const machines = (roster?.members ?? []).map(({ agree: _agree, ...member }) => member);
  const known = [...board.members.values()].map(({ lastSeq: _seq, lastAt: _at, ...member }) => member);
  if (sameMembers(machines, known)) return [];
  const detail = { version: rosterVersion, machines, ...(roster !== null && { team: roster.team }) };
  return [draft('team.roster.changed', {}, detail)];
}

/** In any order, and with their fields in any order. */
function sameMembers(one: readonly object[], other: readonly object[]): boolean {
  return membersText(one) === membersText(other);
}

function membersText(members: readonly object[]): string {
  return members
    .map((member) => JSON.stringify(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .toSorted()
    .join('\n');
}
