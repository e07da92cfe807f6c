import { mergedWorker } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { deployLabel } from './deploy-label.ts';

describe('the deploy', () => {
  const of = (given: object, attempts = 0, status: 'merged' | 'deploying' | 'deploy-failed' = 'merged') =>
    deployLabel({ deploy: mergedWorker({}, given).deploy, attempts, budget: 3, status });
  test('there is no deploy before the merge', () =>
    expect(deployLabel({ deploy: null, attempts: 0, budget: 3, status: 'merging' })).toBeNull());
  test.each([
    [of({}), 'unknown', 'production: not started'],
    [of({ deploymentId: 4 }, 0, 'deploying'), 'motion', 'production: in progress'],
    [of({ deploymentId: 4 }, 1, 'deploying'), 'motion', 'production: in progress, 1 of 3 attempts failed'],
    [of({ deploymentId: 4 }, 1, 'deploy-failed'), 'broken', 'production: 1 of 3 attempts failed'],
    [of({ result: 'budget-exhausted' }, 3), 'broken', 'production: 3 of 3 attempts failed'],
    [of({ result: 'timeout' }), 'broken', 'production: timed out'],
    [of({ result: 'success' }), 'proven', 'live in production'],
    [of({ result: 'accepted' }), 'unknown', 'production: accepted by a person'],
  ])('%j', (found, meaning, words) => expect(found).toEqual({ meaning, words }));
});
