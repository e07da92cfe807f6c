import type { SignalFile } from '@svc/contract/signal-file';
import {
  mergedPullRequest,
  mergedWorker,
  sampleBoard,
  sampleDeployment,
  sampleMergeSha,
  samplePullRequest,
  sampleTicket,
  sampleTime,
  sampleWorker,
  verifiedPolicy,
} from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import type { Deployment } from '../deploy/deployment.ts';
import type { Receipt } from '../workers/api.ts';
import { receipt } from './receipt.ts';

function deployed(via: string, given: Partial<Deployment> = {}): Deployment {
  return sampleDeployment({
    states: [{ state: 'success', at: sampleTime('11:15'), seq: 55, via }],
    ...given,
  });
}
const proof = { deploymentId: 41, sha: sampleMergeSha };
const shippedWorker = mergedWorker({ status: 'done' }, { result: 'success', provenBy: proof });
const signal = (given: Partial<SignalFile>): SignalFile => ({
  ticket: 'ENG-1',
  orchestrator: 'run-1',
  workerName: 'worker-ENG-1',
  status: 'done',
  phase: 'ship',
  startedAt: sampleTime('09:00'),
  updatedAt: sampleTime('11:00'),
  ...given,
});

const unreadable = { project: '/p', deploy: {}, relaxes: [], others: 'unknown' as const };
const required = (environment: string) => ({
  repo: 'acme/web',
  relaxed: null,
  prefixes: [],
  requiredBy: [
    {
      project: '/p',
      policy: { ...verifiedPolicy, productionEnvironment: environment },
      at: sampleTime('08:00'),
      seq: 1,
    },
  ],
});

const short = (given: Receipt | undefined) => ({
  grades: given?.links.map(({ grade }) => grade).join(' '),
  shipped: given?.shipped,
  flagged: given?.flagged,
});

test('every link of a shipped ticket, with its event', () => {
  const board = sampleBoard({
    workers: [shippedWorker],
    pullRequests: [mergedPullRequest()],
    deployments: [deployed('poll')],
    tickets: [sampleTicket()],
  });
  expect(receipt(board, 'eng-1')).toEqual({
    ticket: 'ENG-1',
    orchestrator: 'run-1',
    status: 'done',
    missing: null,
    next: null,
    links: [
      {
        link: 'ticket',
        value: 'ENG-1',
        grade: 'observed',
        at: sampleTime('08:00'),
        seq: 5,
        url: 'https://tracker.example/ENG-1',
      },
      {
        link: 'pull-request',
        value: 'acme/web#12',
        grade: 'observed',
        at: sampleTime('10:00'),
        seq: 20,
        url: 'https://codehost.example/acme/web/pull/12',
      },
      { link: 'checks', value: 'passed', grade: 'observed', at: sampleTime('10:30'), seq: 30 },
      { link: 'merge', value: sampleMergeSha, grade: 'observed', at: sampleTime('11:00'), seq: 40 },
      {
        link: 'deployment',
        value: '41 of aaaaaaa to production',
        grade: 'fetched',
        at: sampleTime('11:15'),
        seq: 55,
        url: 'https://app.example',
      },
    ],
    shipped: true,
    flagged: [],
  });
});

describe('grades, whether it shipped, and what is flagged', () => {
  const merged = { pullRequests: [mergedPullRequest()], tickets: [sampleTicket()] };
  const links = 'observed observed observed observed';
  test.each<[string, Parameters<typeof sampleBoard>[0], ReturnType<typeof short>]>([
    [
      'merged, and nothing deployed',
      { ...merged, workers: [mergedWorker()] },
      { grades: `${links} missing`, shipped: false, flagged: [] },
    ],
    [
      'the same while a feed is blind',
      {
        ...merged,
        workers: [mergedWorker()],
        feeds: [{ feed: 'codehost', grade: 'blind', since: '', reason: null, remedy: null, lastSeq: 9 }],
      },
      { grades: `${links} missing`, shipped: null, flagged: [] },
    ],
    [
      'no verification is required',
      {
        ...merged,
        workers: [
          {
            ...shippedWorker,
            policy: { ...shippedWorker.policy, skipDeployVerification: true },
            deploy: null,
          },
        ],
      },
      { grades: `${links} not-required`, shipped: true, flagged: [] },
    ],
    [
      'a person accepted it',
      { ...merged, workers: [mergedWorker({ status: 'done' }, { result: 'accepted' })] },
      {
        grades: `${links} missing`,
        shipped: true,
        flagged: ['A person accepted it as done; no successful deployment was seen.'],
      },
    ],
    [
      'a person accepted what only the agent reports',
      {
        workers: [
          mergedWorker(
            {
              status: 'done',
              merge: null,
              signal: signal({
                pr: { number: 12, ciStatus: 'green', mergeSha: sampleMergeSha },
                deploy: { result: 'success', deploymentId: 41 },
              }),
            },
            { result: 'accepted' },
          ),
        ],
      },
      {
        grades: 'claimed claimed claimed claimed claimed',
        shipped: true,
        flagged: [
          'A person accepted it as done; no successful deployment was seen.',
          'It is done, but only the agent reports its ticket.',
          'It is done, but only the agent reports its pull request.',
          'It is done, but only the agent reports its checks.',
          'It is done, but only the agent reports its merge.',
          'It is done, but only the agent reports its deployment.',
        ],
      },
    ],
    [
      'only the worker claims to be done',
      {
        ...merged,
        pullRequests: [],
        workers: [sampleWorker({ claim: { status: 'done', at: '', seq: 20 } })],
      },
      {
        grades: 'observed missing missing missing missing',
        shipped: false,
        flagged: ['The agent says: done, but the observed events show implementing.'],
      },
    ],
    [
      'failed checks do not keep it from shipping, but are flagged',
      {
        ...merged,
        workers: [shippedWorker],
        pullRequests: [
          mergedPullRequest({
            checks: [{ name: 'all checks', suiteId: null, conclusion: 'failure', at: null, seq: 30 }],
          }),
        ],
        deployments: [deployed('replay')],
      },
      {
        grades: 'observed observed fetched observed observed',
        shipped: true,
        flagged: ['It was merged with failed checks.'],
      },
    ],
    [
      'a success after the budget was exhausted',
      {
        ...merged,
        workers: [mergedWorker({ status: 'deploy-failed' }, { result: 'budget-exhausted' })],
        deployments: [deployed('live', { id: 44 })],
      },
      {
        grades: `${links} observed`,
        shipped: false,
        flagged: [
          'Deployment 44 of aaaaaaa to production succeeded after the budget was exhausted, so production has it. A person has to confirm it: svc deploy accept ENG-1.',
        ],
      },
    ],
    [
      'a success of another commit or in another environment',
      {
        ...merged,
        workers: [mergedWorker()],
        deployments: [
          deployed('live', { sha: 'b'.repeat(40) }),
          deployed('live', { id: 42, environment: 'staging' }),
        ],
      },
      { grades: `${links} missing`, shipped: false, flagged: [] },
    ],
    [
      'no worker, an open pull request',
      { pullRequests: [samplePullRequest()] },
      { grades: 'claimed observed observed missing missing', shipped: false, flagged: [] },
    ],
    [
      'no worker, a merge that needs no proof',
      { pullRequests: [mergedPullRequest()] },
      { grades: 'claimed observed observed observed not-required', shipped: true, flagged: [] },
    ],
    [
      'no worker, a merge, and the configuration cannot be read',
      { pullRequests: [mergedPullRequest()], projects: [unreadable] },
      { grades: 'claimed observed observed observed missing', shipped: null, flagged: [] },
    ],
    [
      'no worker, a merge that needs proof: whether a later deployment contains it was not checked',
      { pullRequests: [mergedPullRequest()], policies: [required('live')] },
      { grades: 'claimed observed observed observed missing', shipped: null, flagged: [] },
    ],
    [
      'no worker, and deployed to an environment that does not count',
      { pullRequests: [mergedPullRequest()], deployments: [deployed('live')], policies: [required('live')] },
      { grades: 'claimed observed observed observed missing', shipped: null, flagged: [] },
    ],
    [
      'no worker, and deployed to the environment that counts',
      {
        pullRequests: [mergedPullRequest()],
        deployments: [deployed('live', { environment: 'Live' })],
        policies: [required('live')],
      },
      { grades: 'claimed observed observed observed observed', shipped: true, flagged: [] },
    ],
    [
      'a success in staging, and the same deployment under way in production',
      {
        ...merged,
        workers: [mergedWorker({ status: 'deploying' })],
        deployments: [
          sampleDeployment({
            states: [
              { state: 'success', environment: 'staging', at: sampleTime('11:05'), seq: 50, via: 'live' },
              { state: 'in_progress', at: sampleTime('11:10'), seq: 51, via: 'live' },
            ],
          }),
        ],
      },
      { grades: `${links} missing`, shipped: false, flagged: [] },
    ],
    [
      'canceled, although it was merged and deployed',
      {
        ...merged,
        workers: [mergedWorker({ status: 'canceled', deploy: null })],
        deployments: [deployed('live')],
      },
      {
        grades: `${links} observed`,
        shipped: false,
        flagged: ['acme/web#12 is merged, but the status is canceled.'],
      },
    ],
  ])('%s', (_, given, expected) => {
    expect(short(receipt(sampleBoard(given), 'ENG-1'))).toEqual(expected);
  });
});

test('the worker still knows what the board has dropped', () => {
  const board = sampleBoard({ workers: [shippedWorker], tickets: [sampleTicket()] });
  expect(short(receipt(board, 'ENG-1'))).toEqual({
    grades: 'observed claimed missing observed observed',
    shipped: true,
    flagged: ['It is done, but only the agent reports its pull request.'],
  });
});

test('of two runs the one that started last answers, whichever was touched last, unless it was given up', () => {
  const run = (orchestrator: string, startedAt: string, given: object) =>
    sampleWorker({ orchestrator, signal: signal({ orchestrator, startedAt }), ...given });
  const first = run('run-1', sampleTime('08:00'), { ...shippedWorker, lastSeq: 99, signal: signal({}) });
  const second = run('run-2', sampleTime('10:00'), { lastSeq: 50 });
  const of = (other: typeof second) =>
    receipt(sampleBoard({ workers: [first, other], pullRequests: [mergedPullRequest()] }), 'ENG-1');
  expect(of(second)).toMatchObject({ orchestrator: 'run-2', shipped: false });
  expect(of({ ...second, status: 'canceled' })).toMatchObject({ orchestrator: 'run-1', shipped: true });
});

test('an unknown ticket', () => {
  expect(receipt(sampleBoard(), 'ENG-1')).toBeUndefined();
});

test.each([
  ['open in the tracker', 'started', false],
  ['completed in the tracker, by whatever', 'completed', null],
])('without a run and a pull request, a ticket that is %s', (_, type, shipped) => {
  const state = { id: 's', name: 'State', type };
  const board = sampleBoard({ tickets: [sampleTicket({ state })] });
  expect(receipt(board, 'ENG-1')).toMatchObject({ shipped });
});
