import { expect, test } from 'vitest';
import { isSameProcess } from './processes.ts';

const startedAt = Date.parse('2026-01-02T03:04:05.500Z');

test.each([
  ['2026-01-02T03:04:05Z', true],
  ['2026-01-02T04:04:06.900+01:00', true],
  ['2026-01-02 03:04:05', true],
  ['Fri Jan  2 03:04:05 2026', true],
  [startedAt, true],
  [Math.floor(startedAt / 1000), true],
  [String(startedAt / 1000), true],
  ['123456', true],
  [123_456, true],
  ['2026-01-02T03:04:08Z', false],
  ['2026-01-02T03:04:03Z', false],
  [startedAt + 2_001, false],
  [startedAt / 1000 - 3, false],
  [99, null],
  ['soon', null],
  ['', null],
  [null, null],
  [undefined, null],
])('a start written as %j: %j', (written, same) => {
  expect(isSameProcess({ state: 'running', startedAt, mark: '123456' }, written)).toBe(same);
});
