import { expect, test } from 'vitest';
import { failedDeployment } from './failed-deploy.tsx';

const worker = { status: 'deploy-failed', repo: 'acme/web', merge: { sha: 'a1' } } as never;
const deployment = (id: number, given: object = {}) =>
  ({
    id,
    repo: 'acme/web',
    sha: 'a1',
    state: 'failure',
    stateAt: `2026-11-09T08:0${id}:00.000Z`,
    ...given,
  }) as never;

test('the newest failed deployment of the merge', () => {
  const all = [deployment(1), deployment(3, { state: 'error' }), deployment(2)];
  expect(failedDeployment(worker, all)?.id).toBe(3);
});

test.each([
  ['another commit', deployment(1, { sha: 'b2' })],
  ['another repository', deployment(1, { repo: 'acme/api' })],
  ['a success', deployment(1, { state: 'success' })],
])('%s does not count', (_what, one) => expect(failedDeployment(worker, [one])).toBeNull());

test('a deploy that is retried has not failed', () => {
  expect(
    failedDeployment({ ...(worker as object), status: 'deploying' } as never, [deployment(1)]),
  ).toBeNull();
});
