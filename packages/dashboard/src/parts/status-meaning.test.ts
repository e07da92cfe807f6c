import { expect, test } from 'vitest';
import {
  isStuck,
  type StandingWorker,
  standingOf,
  statusMeaning,
  statusWords,
  verificationStanding,
  waveStanding,
} from './meaning.ts';

const merge = { sha: 'abc', at: '2026-11-09T10:00:00.000Z', seq: 3 };
const deploy = { result: null } as StandingWorker['deploy'];
const worker = (given: Partial<StandingWorker>): StandingWorker => ({
  status: 'implementing',
  deploy: null,
  merge: null,
  life: { state: 'alive', since: '2026-11-09T10:00:00.000Z', seq: 1 },
  attempts: 0,
  budget: 3,
  ...given,
});
const dead = { state: 'dead', since: '2026-11-09T10:00:00.000Z', seq: 1 } as const;

test.each([
  [worker({}), false, 'motion', 'Implementing'],
  [worker({}), true, 'you', 'Implementing, needs you'],
  [worker({ life: dead }), true, 'you', 'Implementing, process gone'],
  [worker({ status: 'pr-created' }), false, 'review', 'In review'],
  [worker({ status: 'pr-created', life: dead }), false, 'review', 'In review'],
  [worker({ life: dead }), false, 'broken', 'Implementing, process gone'],
  [worker({ life: { ...dead, reviving: true } }), false, 'motion', 'Implementing, restarting'],
  [worker({ status: 'failed' }), false, 'you', 'Failed'],
  [worker({ status: 'deploy-failed', deploy, attempts: 1 }), false, 'broken', 'Deploy failed'],
  [worker({ status: 'deploy-failed', deploy, attempts: 3 }), false, 'you', 'Deploy failed'],
  [worker({ status: 'done', merge }), true, 'proven', 'Done'],
  [worker({ status: 'canceled' }), true, 'unknown', 'Canceled'],
] as const)('a worker stands as its state and its needs say', (given, needsYou, meaning, words) => {
  expect(standingOf(given, needsYou)).toEqual({ meaning, words });
});

test('what a person accepted is done and not proven', () => {
  const accepted = { result: 'accepted' } as StandingWorker['deploy'];
  expect(standingOf(worker({ status: 'done', merge, deploy: accepted })).meaning).toBe('unknown');
  expect(standingOf(worker({ status: 'done' })).meaning).toBe('unknown');
});

test('a closed pull request is in no review', () => {
  const inReview = worker({ status: 'pr-created' });
  expect(standingOf(inReview, false, { state: 'closed' })).toEqual({
    meaning: 'you',
    words: 'Closed without a merge',
  });
  expect(standingOf(inReview, false, { state: 'open' }).meaning).toBe('review');
});

test('only a person moves on what is stuck', () => {
  expect(isStuck(worker({ status: 'stalled' }))).toBe(true);
  expect(isStuck(worker({ status: 'deploy-failed', attempts: 2 }))).toBe(false);
});

test('what nobody knows is never green', () => {
  expect(statusMeaning('unknown')).toBe('unknown');
  expect(statusMeaning('toString')).toBe('unknown');
  expect(statusMeaning(null)).toBe('unknown');
  expect(statusWords(null)).toBe('Not begun');
  expect(statusWords('something-new')).toBe('something-new');
  expect(waveStanding(null).meaning).toBe('unknown');
  expect(verificationStanding(null).meaning).toBe('unknown');
});
