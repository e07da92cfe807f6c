import { expect, test } from 'vitest';
import { verificationLabel, waveLabel } from './run-labels.ts';

test('what has not started is unknown', () => {
  expect(waveLabel(null)).toEqual({ meaning: 'unknown', words: 'Not started' });
  expect(verificationLabel(null)).toEqual({ meaning: 'unknown', words: 'None' });
});

test('a failed verification says whether it is advisory', () =>
  expect([false, true].map((advisory) => verificationLabel('failed', advisory).words)).toEqual([
    'Failed',
    'Failed, advisory',
  ]));
