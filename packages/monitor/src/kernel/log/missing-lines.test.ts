import { expect, test } from 'vitest';
import { joinMissing, missingText } from './missing-lines.ts';

test.each([
  [[], undefined],
  [[{ from: 25, to: 25 }], 'event 25 is missing from the log'],
  [[{ from: 31, to: 60 }], 'events 31 to 60 are missing from the log'],
  [
    [
      { from: 5, to: 5 },
      { from: 31, to: 60 },
    ],
    'events 5, 31 to 60 are missing from the log',
  ],
  [
    [1, 3, 5, 7, 9].map((seq) => ({ from: seq, to: seq })),
    'events 1, 3, 5, 2 more ranges are missing from the log',
  ],
])('%j: %s', (missing, text) => {
  expect(missingText(missing)).toBe(text);
});

test('adjacent and overlapping ranges are joined, in order', () => {
  const ranges = [
    { from: 20, to: 30 },
    { from: 1, to: 5 },
    { from: 6, to: 8 },
    { from: 25, to: 28 },
  ];
  expect(joinMissing(ranges)).toEqual([
    { from: 1, to: 8 },
    { from: 20, to: 30 },
  ]);
  expect(ranges[1]).toEqual({ from: 1, to: 5 });
});
