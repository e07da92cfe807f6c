import { expect, test } from 'vitest';
import { INVITATION_MS, Roster } from '../roster.ts';
import { testTeam } from '../testing/test-team.ts';
import { isAhead, isNameTaken, withMember, withoutMember, withTime } from './roster-changes.ts';
import { newestKey, type TeamFile } from './team-file.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-01-02T09:00:00.000Z');
const [admin] = await testTeam('https://relay.example.com/channel', NOW);
const KEY = 'A'.repeat(43);
const invitation = (change: object = {}) => ({
  id: 'i'.repeat(22),
  secret: KEY,
  expiresAt: NOW + INVITATION_MS,
  listed: true,
  person: null,
  ...change,
});
const withInvitation = (change: object = {}): TeamFile => ({ ...admin, invitations: [invitation(change)] });
const join = (person: string, machine: string) => ({
  id: 'n'.repeat(22),
  invitation: 'i'.repeat(22),
  sign: KEY,
  agree: KEY,
  person,
  machine,
});

test.each(['mia', 'Mia', 'mіa', 'one', 'tw0'])('nobody joins as %j, a name in the team', (person) => {
  const own = withInvitation();
  expect(isNameTaken(own, join(person, 'new'))).toBe(true);
  expect(withMember(own, join(person, 'new'))).toBeUndefined();
});

test('a further machine of a person joins with an invitation for that person, and only that', () => {
  const own = withInvitation({ person: 'mia' });
  expect(isNameTaken(own, join('mia', 'new'))).toBe(false);
  expect(isNameTaken(own, join('kim', 'new'))).toBe(true);
  expect(isNameTaken(own, join('zoe', 'new'))).toBe(true);
});

test.each([
  ['two', 'two-2'],
  ['TWO', 'TWO-2'],
  ['mia', 'mia-2'],
  ['x'.repeat(90), 'x'.repeat(90)],
])('a machine that is named %j is in the list as %j', (given, name) => {
  const next = withMember(withInvitation(), join('zoe', given));
  expect(next?.roster?.members.at(-1)?.machine).toBe(name);
});

test('two machines with the longest name are both in a list that members accept', () => {
  const first = withMember(withInvitation(), join('zoe', 'x'.repeat(90)));
  const second = { ...join('lou', 'x'.repeat(90)), id: 'm'.repeat(22), invitation: 'j'.repeat(22) };
  const both = withMember({ ...admin, ...first, invitations: [invitation({ id: 'j'.repeat(22) })] }, second);
  expect(both?.roster?.members).toHaveLength(4);
  expect(Roster.safeParse(both?.roster).success).toBe(true);
});

test('invitations follow the clock, whatever the version of the list is', () => {
  const ahead = { ...withInvitation(), rosterVersion: NOW + 365 * DAY_MS };
  expect(withTime(ahead, NOW)).toBeUndefined();
  expect(isAhead(ahead, NOW)).toBe(true);
  expect(isAhead({ ...ahead, rosterVersion: NOW }, NOW)).toBe(false);
  const expired = withTime(ahead, NOW + INVITATION_MS + 1);
  expect(expired?.invitations).toEqual([invitation({ listed: false })]);
  expect(
    withTime({ ...ahead, invitations: expired?.invitations ?? [] }, NOW + 2 * INVITATION_MS),
  ).toBeUndefined();
  // Made with a clock that was a year ahead.
  expect(withTime(withInvitation({ expiresAt: NOW + 365 * DAY_MS }), NOW)?.invitations).toEqual([]);
});

test('a key is replaced after 30 days, and when it is from a clock that was ahead', () => {
  const since = (at: number): TeamFile => ({ ...admin, teamKeys: [{ ...newestKey(admin), since: at }] });
  expect(withTime(since(NOW - 29 * DAY_MS), NOW)).toBeUndefined();
  for (const at of [NOW - 31 * DAY_MS, NOW + 365 * DAY_MS]) {
    const next = withTime(since(at), NOW);
    expect(next?.teamKeys).toMatchObject([{ epoch: 2, since: NOW }, { epoch: 1 }]);
    expect(next?.teamKeys[0]?.key).not.toBe(next?.teamKeys[1]?.key);
  }
  expect(withoutMember(admin, admin.roster?.members[1]?.id ?? '', NOW)?.teamKeys).toMatchObject([
    { epoch: 2, since: NOW },
    { epoch: 1 },
  ]);
});
