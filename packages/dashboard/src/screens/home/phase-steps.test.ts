import { mergedWorker } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { type SteppedWorker, type StepState, stepsOf, stepWords } from './phase-steps.ts';

const worker: SteppedWorker = {
  status: 'implementing',
  phase: 'inProgress',
  pr: null,
  pullRequestKey: null,
  merge: null,
  deploy: null,
  process: { state: 'alive', since: '2026-01-02T09:00:00.000Z', seq: 1 },
};
const { merge, deploy } = mergedWorker({}, { deploymentId: 41 });
const { deploy: proven } = mergedWorker({}, { deploymentId: 41, provenBy: { deploymentId: 41, sha: 'a' } });
const dead = { ...worker.process, state: 'dead' } as const;

const letters: Record<StepState, string> = { done: '#', current: '>', failed: 'x', ahead: '.', skipped: '-' };
const drawn = (given: Partial<SteppedWorker>): string =>
  stepsOf({ ...worker, ...given })
    .map(({ state }) => letters[state])
    .join('');

describe('the steps of a worker', () => {
  test.each<[string, Partial<SteppedWorker>]>([
    ['.......', { status: 'dispatched', phase: 'dispatched' }],
    ['>......', { status: 'researching' }],
    ['#>.....', { status: 'planning' }],
    ['##>....', { status: 'implementing' }],
    ['###>...', { status: 'validating' }],
    ['####>..', { status: 'shipping' }],
    ['####>..', { status: 'pr-created' }],
    ['#####>.', { status: 'merging' }],
    ['######>', { status: 'merged', merge }],
    ['######>', { status: 'deploying', merge, deploy }],
    ['######x', { status: 'deploy-failed', merge, deploy }],
    ['######x', { status: 'stalled', phase: 'inReview', merge, deploy }],
    ['#######', { status: 'done', merge, deploy: proven }],
    ['######-', { status: 'done', merge, deploy: null }],
    ['##x....', { status: 'failed', phase: 'inProgress' }],
    ['##x....', { status: 'stalled', phase: 'implementing' }],
    ['####x..', { status: 'failed', phase: 'custom phase', pr: { number: 1, url: null } }],
    ['.......', { status: 'failed', phase: 4 }],
    ['##-....', { status: 'canceled', phase: 'inProgress' }],
    ['##x....', { process: dead }],
    ['##>....', { process: { ...dead, reviving: true } }],
    ['####>..', { status: 'pr-created', process: dead }],
  ])('%s', (row, given) => expect(drawn(given)).toBe(row));

  test('confirmed steps are distinguished from reported ones', () => {
    const seen = stepsOf({ ...worker, status: 'deploying', pullRequestKey: 'acme/web#12', merge, deploy });
    expect(seen.filter((step) => step.seen).map(({ name }) => name)).toEqual([
      'Pull request',
      'Merge',
      'Deploy',
    ]);
    expect(stepsOf({ ...worker, status: 'pr-created' }).some((step) => step.seen)).toBe(false);
  });
});

test('as text', () => {
  expect(stepWords(stepsOf(worker))).toBe(
    'Research done, Plan done, Implement in progress, Validate to do, Pull request to do, Merge to do, Deploy to do',
  );
});
