import { expect, test } from 'vitest';
import { type DrainRecord, readDrainJournal } from './findings.ts';

const trying = (key: string, minute = 1): DrainRecord => ({
  state: 'trying',
  key,
  destination: 'tracker',
  at: `2026-01-02T03:0${minute}:00.000Z`,
});
const filed = (key: string): DrainRecord => ({
  state: 'filed',
  key,
  destination: 'tracker',
  filedAs: 'ABC-1',
  url: 'https://tracker.example/ABC-1',
});
const journal = (...records: DrainRecord[]) => records.map((one) => `${JSON.stringify(one)}\n`).join('');

test('an attempt is open until it is filed or rejected; the first open attempt counts', () => {
  const states = readDrainJournal(
    journal(
      trying('a'),
      trying('b', 1),
      trying('b', 2),
      filed('a'),
      trying('c'),
      { state: 'refused', key: 'c' },
      trying('d', 1),
      { state: 'refused', key: 'd' },
      trying('d', 3),
    ),
  );
  expect([...states]).toEqual([
    ['a', filed('a')],
    ['b', trying('b', 1)],
    ['d', trying('d', 3)],
  ]);
});

test('a filed finding stays filed', () => {
  expect(readDrainJournal(journal(filed('a'), trying('a'), { state: 'refused', key: 'a' })).get('a')).toEqual(
    filed('a'),
  );
});

test('a torn or foreign line is ignored', () => {
  expect(readDrainJournal(`${journal(trying('a'))}{"state":"other","key":"a"}\n{"state":"fil`).size).toBe(1);
  expect(readDrainJournal('')).toEqual(new Map());
});
