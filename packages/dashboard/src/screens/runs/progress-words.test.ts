import { expect, test } from 'vitest';
import type { RunModel } from '../run/run-model.ts';
import { progressParts, progressWords, waveWords } from './progress.tsx';

type Ticket = RunModel['tickets'][number];
const ticket = (status: string | null, meaning: Ticket['standing']['meaning']) =>
  ({ status, standing: { meaning, words: '' } }) as Ticket;
const tickets = [
  ticket('done', 'proven'),
  ticket('failed', 'you'),
  ticket('implementing', 'motion'),
  ticket('canceled', 'unknown'),
  ticket(null, 'unknown'),
];

test('parts are those that have begun and mean something', () => {
  expect(progressParts({ tickets })).toEqual([
    { meaning: 'proven', count: 1 },
    { meaning: 'motion', count: 1 },
    { meaning: 'you', count: 1 },
  ]);
});

test('progress in words', () => {
  expect(progressWords({ tickets, done: 1, needYou: 1 })).toBe('1 of 5 done, 1 needs you, 1 canceled');
  expect(progressWords({ tickets: [], done: 0, needYou: 0 })).toBe('no tickets are known');
});

test.each([
  [[], 'none yet'],
  [[{ wave: 1, state: null }], '0 of 1'],
  [
    [
      { wave: 1, state: 'completed' },
      { wave: 2, state: 'started' },
      { wave: 3, state: null },
    ],
    '2 of 3',
  ],
  [
    [
      { wave: 1, state: 'started' },
      { wave: null, state: null },
    ],
    '1 of 2+',
  ],
])('waves %j are %s', (waves, words) => {
  expect(waveWords(waves.map((wave) => ({ ...wave, tickets: [] })))).toBe(words);
});
