import { expect, test } from 'vitest';
import {
  deploymentDifferences,
  type PolledDeploymentStatus,
  stateIn,
} from '../pull-requests/poll-differences.ts';

const sha = 'b'.repeat(40);
const deployment = {
  id: 3_000_000_001,
  sha,
  ref: 'main',
  environment: 'production',
  created_at: '2026-01-01T12:00:00Z',
  updated_at: '2026-01-01T12:05:00Z',
};
const status = (id: number, state: string, minute: number): PolledDeploymentStatus => ({
  id,
  state,
  created_at: `2026-01-01T12:0${minute}:00Z`,
});
// The code host lists the newest first.
const statuses = [status(3, 'success', 5), status(2, 'in_progress', 2), status(1, 'in_progress', 1)];
const differences = (logged?: Set<string>) => deploymentDifferences('acme/web', deployment, statuses, logged);

test('each state is reported once, in order, with commit, environment and id', () => {
  const drafts = differences();
  expect(drafts.map(({ event }) => event)).toEqual([
    'codehost.deployment.created',
    'codehost.deployment_status.in_progress',
    'codehost.deployment_status.success',
  ]);
  for (const draft of drafts) {
    expect(draft).toMatchObject({
      source: 'codehost.poll',
      via: 'poll',
      scope: { repo: 'acme/web', sha, environment: 'production', deploymentId: deployment.id },
    });
  }
  expect(new Set(drafts.map(({ deliveryId }) => deliveryId)).size).toBe(3);
  expect(differences()).toEqual(drafts);
});

test('a state that the log has is not reported again', () => {
  const [started = '', succeeded = ''] = ['in_progress', 'success'].map((state) =>
    stateIn(state, 'Production'),
  );
  expect(differences(new Set([started])).map(({ event }) => event)).toEqual([
    'codehost.deployment_status.success',
  ]);
  expect(differences(new Set([started, succeeded]))).toEqual([]);
});

test('the same state in another environment is another state', () => {
  const logged = new Set(['in_progress', 'success'].map((state) => stateIn(state, 'staging')));
  expect(differences(logged)).toHaveLength(2);
});
