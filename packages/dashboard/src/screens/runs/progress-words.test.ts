import { expect, test } from 'vitest';
import type { RunModel } from '../run/run-model.ts';
import { progressParts, progressWords, waveWords } from './progress.tsx';

type Ticket = RunModel['tickets'][number];
const ticket = (status: string | null, meaning: Ticket['label']['meaning']) =>
  ({ status, label: { meaning, words: '' } }) as Ticket;
const tickets = [
  ticket('done', 'proven'),
  ticket('failed', 'you'),
  ticket('implementing', 'motion'),
  ticket('canceled', 'unknown'),
  ticket(null, 'unknown'),
];

test('the bar has the started tickets by meaning', () => {
  expect(progressParts({ tickets })).toEqual([
    { meaning: 'proven', count: 1 },
    { meaning: 'motion', count: 1 },
    { meaning: 'you', count: 1 },
  ]);
});

test('progress as text', () => {
  expect(progressWords({ tickets, done: 1, needYou: 1 })).toBe('1 of 5 done, 1 needs you, 1 canceled');
  expect(progressWords({ tickets: [], done: 0, needYou: 0 })).toBe('no known tickets');
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
