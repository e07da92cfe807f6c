import { expect, test } from 'vitest';
import type { BoardCard } from '../board/board-columns.ts';
import { cardLabel, errorsOf } from '../board/card-label.ts';
import { isStuck, type LabelledWorker, statusMeaning, statusWords, workerLabel } from './worker-label.ts';

const merge = { sha: 'abc', at: '2026-11-09T10:00:00.000Z', seq: 3 };
const deploy = { result: null } as LabelledWorker['deploy'];
const worker = (given: Partial<LabelledWorker>): LabelledWorker => ({
  status: 'implementing',
  deploy: null,
  merge: null,
  process: { state: 'alive', since: '2026-11-09T10:00:00.000Z', seq: 1 },
  attempts: 0,
  budget: 3,
  pullRequestKey: 'acme/web#12',
  ...given,
});
const claimed = worker({ status: 'pr-created', pullRequestKey: null });
const dead = { state: 'dead', since: '2026-11-09T10:00:00.000Z', seq: 1 } as const;

test.each([
  [worker({}), false, 'motion', 'Implementing'],
  [worker({}), true, 'you', 'Implementing, needs you'],
  [worker({ process: dead }), true, 'you', 'Implementing, process exited'],
  [
    worker({ process: dead, agent: { suspended: { at: dead.since, minutes: 30 } } }),
    true,
    'you',
    'Implementing, needs you',
  ],
  [worker({ status: 'pr-created' }), false, 'review', 'In review'],
  [worker({ status: 'pr-created', process: dead }), false, 'review', 'In review'],
  [claimed, false, 'unknown', 'Claims a pull request; none was seen'],
  [claimed, true, 'you', 'Claims a pull request; none was seen'],
  [worker({ process: dead }), false, 'broken', 'Implementing, process exited'],
  [worker({ process: { ...dead, reviving: true } }), false, 'motion', 'Implementing, restarting'],
  [worker({ status: 'failed' }), false, 'you', 'Failed'],
  [worker({ status: 'deploy-failed', deploy, attempts: 1 }), false, 'broken', 'Deploy failed'],
  [worker({ status: 'deploy-failed', deploy, attempts: 3 }), false, 'you', 'Deploy failed'],
  [worker({ status: 'done', merge }), true, 'proven', 'Done'],
  [worker({ status: 'canceled' }), true, 'unknown', 'Canceled'],
] as const)(
  'the label of a worker follows its state and its attention items',
  (given, needsYou, meaning, words) => {
    expect(workerLabel(given, needsYou)).toEqual({ meaning, words });
  },
);

test('work that a person accepted is done, but not proven', () => {
  const accepted = { result: 'accepted' } as LabelledWorker['deploy'];
  expect(workerLabel(worker({ status: 'done', merge, deploy: accepted })).meaning).toBe('unknown');
  expect(workerLabel(worker({ status: 'done' })).meaning).toBe('unknown');
});

test('a closed pull request is not in review', () => {
  const inReview = worker({ status: 'pr-created' });
  expect(workerLabel(inReview, false, { state: 'closed' })).toEqual({
    meaning: 'you',
    words: 'Closed without merging',
  });
  expect(workerLabel(inReview, false, { state: 'open' }).meaning).toBe('review');
});

test('only a person can move on a stuck worker', () => {
  expect(isStuck(worker({ status: 'stalled' }))).toBe(true);
  expect(isStuck(worker({ status: 'deploy-failed', attempts: 2 }))).toBe(false);
});

test('an unknown state is never green', () => {
  expect(statusMeaning('unknown')).toBe('unknown');
  expect(statusMeaning('toString')).toBe('unknown');
  expect(statusMeaning(null)).toBe('unknown');
  expect(statusWords(null)).toBe('Not started');
  expect(statusWords('something-new')).toBe('something-new');
});

test('the status of a card', () => {
  const inReview = worker({ status: 'pr-created' });
  const card = (given: object): BoardCard =>
    ({ worker: inReview, pullRequest: { state: 'open' }, ...given }) as never;
  expect(cardLabel(card({}), false)).toEqual({ meaning: 'review', words: 'In review' });
  expect(cardLabel(card({ pullRequest: { state: 'closed' } }), false).words).toBe('Closed without merging');
  expect(cardLabel(card({}), true).meaning).toBe('you');
  expect(cardLabel(card({ worker: null }), false)).toEqual({
    meaning: 'review',
    words: 'Open, no agent',
  });
});

test.each([
  ['dispatched', 'exec: claude: not found', [], 'exec: claude: not found'],
  ['failed', 'exec: claude: not found', ['pr-closed'], 'exec: claude: not found'],
  ['failed', 'exec: claude: not found', ['worker-dead'], null],
  ['dispatched', undefined, [], null],
  ['canceled', 'exec: claude: not found', [], null],
  ['done', 'exec: claude: not found', [], null],
] as const)(
  'a worker that is %s and wrote %s, with the items %j, shows %s',
  (status, stderr, reasons, expected) => {
    const exited = worker({ status, process: { ...dead, ...(stderr !== undefined && { stderr }) } });
    const attention = reasons.map((reason) => ({ reason }));
    expect(errorsOf({ worker: exited, attention } as unknown as BoardCard)).toBe(expected);
  },
);
