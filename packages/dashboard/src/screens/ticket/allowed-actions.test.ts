import { expect, test } from 'vitest';
import { allowedActions } from './worker-actions.tsx';

type Worker = Parameters<typeof allowedActions>[0];
const since = '2026-11-09T10:00:00.000Z';
const alive = { state: 'alive', since, seq: 1 } as const;
const dead = { state: 'dead', since, seq: 1 } as const;
const deploy = {} as NonNullable<Worker['deploy']>;
const merge = { sha: 'a', at: since, seq: 2 };
const plan = {} as Exclude<NonNullable<Parameters<typeof allowedActions>[1]>['plan'], null>;
const running = { state: 'running', plan } as const;
const worker = (given: Partial<Worker>): Worker => ({
  status: 'implementing',
  deploy: null,
  merge: null,
  claim: null,
  process: alive,
  ...given,
});

test.each([
  [worker({}), running, []],
  [worker({ process: dead }), running, ['worker-retry']],
  [worker({ process: { ...dead, reviving: true } }), running, []],
  [worker({ status: 'pr-created', process: dead }), running, []],
  [worker({ status: 'failed' }), running, ['worker-retry']],
  [worker({ status: 'canceled' }), { state: 'completed', plan } as const, ['worker-retry']],
  [worker({ status: 'canceled' }), { state: 'canceled', plan } as const, ['worker-retry']],
  [worker({ status: 'canceled' }), { state: 'canceled', plan: null } as const, []],
  [worker({ status: 'failed' }), null, []],
  [worker({ status: 'deploy-failed', deploy, merge }), running, ['deploy-retry', 'deploy-accept']],
  [worker({ status: 'stalled', deploy, merge }), running, ['deploy-retry', 'deploy-accept']],
  [worker({ status: 'deploying', deploy, merge }), running, ['deploy-accept']],
  [worker({ claim: { status: 'done', at: since, seq: 3 } }), running, ['deploy-accept']],
  [worker({ status: 'done', deploy, merge }), running, []],
] as const)('only the actions that the state allows are offered', (given, run, actions) => {
  expect(allowedActions(given, run)).toEqual(actions);
});
