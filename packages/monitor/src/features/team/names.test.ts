import { expect, test } from 'vitest';
import { isAllowanceName, isAllowed } from './command.ts';
import { LONGEST_CHOSEN_NAME, looksOf, memberNamed, nameIn } from './names.ts';

const ID = 'Xk2_aaaaaaaaaaaaaaaa-9';

test.each([
  ['kim', 'kim'],
  ['  Kim   Berg ', 'Kim Berg'],
  ['ｋｉｍ', 'kim'],
  ['Zoë', 'Zoë'],
  ['Ольга', 'Ольга'],
  ['田中 ken', '田中 ken'],
  ['kim@laptop.local', 'kim@laptop.local'],
])('%j is the name %j', (text, name) => {
  expect(nameIn(text)).toBe(name);
});

test.each([
  ['nothing', ''],
  ['spaces', '   '],
  ['an id', ID],
  ['an id in wide letters', ID.replaceAll('a', 'ａ')],
  ['no letter', '*'],
  ['an escape', 'kim\u001b[2J'],
  ['a line feed', 'kim\nadmin'],
  ['a right-to-left override', 'kim\u202e'],
  ['a space without width', 'one\u200b'],
  ['a soft hyphen', 'o\u00adne'],
  ['a variation selector', 'one\ufe0f'],
  ['a filler', 'one\u3164'],
  ['a blank pattern', 'one\u2800'],
  ['an odd space', 'one\u1680two'],
  ['a C1 control', 'one\u009b'],
  ['half a pair', 'one\ud800'],
  ['a private letter', 'one\ue000'],
  ['letters of two scripts', 'оne'],
  ['letters of a script that nobody writes names in', 'ꓳꓠꓰ'],
  ['too long', 'x'.repeat(LONGEST_CHOSEN_NAME + 1)],
  ['too long in its one form', 'ﷺ'.repeat(20)],
])('%s is no name', (_what, text) => {
  expect(nameIn(text)).toBeUndefined();
});

test.each([
  ['one', 'ONE'],
  ['one', '0ne'],
  ['kim', 'kіm'],
  ['coco', 'сосо'],
  ['kim-berg', 'Kim Berg'],
  ['zoe', 'Zoë'],
  ['bill', 'biII'],
  ['modern', 'modem'],
])('%j and %j look alike', (one, other) => {
  expect(looksOf(one)).toBe(looksOf(other));
});

test('names that differ do not look alike', () => {
  const names = ['one', 'two', 'laptop', 'laptop-2', 'laptop-3', 'kim', 'tim', '田中', '田'];
  expect(new Set(names.map(looksOf)).size).toBe(names.length);
});

test('an allowance for an id, a machine or a person is for nothing else of that name', () => {
  const member = { id: ID, machine: 'laptop', person: 'kim' };
  const allows = (name: string): boolean => isAllowed({ [name]: ['send'] }, member, 'send');
  for (const name of [ID, `id:${ID}`, 'machine:laptop', 'person:kim', '*'])
    expect([name, isAllowanceName(name), allows(name)]).toEqual([name, true, true]);
  for (const name of ['kim', 'laptop', 'person:laptop', 'machine:kim', `person:${ID}`, 'id:kim', 'id:laptop'])
    expect([name, allows(name)]).toEqual([name, false]);
  // A machine that calls itself by the id of another gets nothing of that.
  const eve = { id: `${ID.slice(1)}x`, machine: ID, person: ID };
  for (const name of [ID, `id:${ID}`]) expect(isAllowed({ [name]: ['send'] }, eve, 'send')).toBe(false);
  expect(memberNamed([eve, member], ID)).toBe(member);
});
