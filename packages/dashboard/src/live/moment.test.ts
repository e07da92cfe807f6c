import { expect, test } from 'vitest';
import { momentOf, timeOfMoment } from './moment.ts';

const boardAt = '2026-11-09T13:04:58.123Z';

test.each([
  [null, null],
  [undefined, null],
  ['2026-11-09T13:05:00Z', Date.parse('2026-11-09T13:05:00Z')],
  ['2026-11-09', Date.parse('2026-11-09')],
  ['412', Date.parse(boardAt)],
  ['2h', Date.parse(boardAt)],
  ['2026-11-09Tnever', Date.parse(boardAt)],
])('%s is %s', (at, time) => expect(timeOfMoment(at, boardAt)).toBe(time));

test('the time of a seq is unknown until its board has loaded', () =>
  expect(timeOfMoment('412', null)).toBeNull());

test('it is written with seconds', () => expect(momentOf(Date.parse(boardAt))).toBe('2026-11-09T13:04:58Z'));
