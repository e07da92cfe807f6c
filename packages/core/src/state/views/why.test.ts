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
} from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import type { Why } from '../../api/workers.ts';
import { unknownDeployPolicy } from '../../deploy/policy.ts';
import type { Deployment, Worker } from '../board-types.ts';
import { why, whyTicket } from './why.ts';

const noon = Date.parse(sampleTime('12:00'));
const before = Date.parse(sampleTime('11:20'));
const failedOnce = [{ deploymentId: 41, state: 'failure' as const, failedAt: sampleTime('11:10') }];
const exhausted = [41, 42, 43].map((deploymentId) => ({
  deploymentId,
  state: 'failure' as const,
  failedAt: sampleTime('11:10'),
}));

const success = (given: Partial<Deployment> = {}): Deployment =>
  sampleDeployment({
    states: [
      { state: 'in_progress', at: sampleTime('11:05'), seq: 50, via: 'live' },
      { state: 'success', at: sampleTime('11:15'), seq: 55, via: 'poll' },
    ],
    ...given,
  });

function whyOf(worker: Worker, more: Parameters<typeof sampleBoard>[0] = {}, now = before): Why {
  return why(sampleBoard({ workers: [worker], ...more }), worker, now);
}

const merged = { pullRequests: [mergedPullRequest()] };

describe('the rule, what it waits for, and until when', () => {
  test.each<[string, Worker, Parameters<typeof sampleBoard>[0], Partial<Why>]>([
    [
      'implementing',
      sampleWorker(),
      {},
      {
        rule: 'The signal file says implementing, and nothing that was seen says more.',
        waitsFor: 'the next word of the worker',
        until: null,
      },
    ],
    ['dispatched', sampleWorker({ status: 'dispatched' }), {}, { waitsFor: 'the worker to begin' }],
    [
      'pr-created and ready',
      sampleWorker({ status: 'pr-created', pr: { number: 12, url: null } }),
      { pullRequests: [samplePullRequest()] },
      { waitsFor: 'acme/web#12 to be merged: it is ready' },
    ],
    [
      'pr-created, with checks that failed',
      sampleWorker({ status: 'pr-created', pr: { number: 12, url: null } }),
      {
        pullRequests: [
          samplePullRequest({
            mergeableState: 'blocked',
            checks: [{ name: 'build', suiteId: 7, conclusion: 'failure', at: null, seq: 30 }],
          }),
        ],
      },
      { waitsFor: 'acme/web#12 to be merged: checks failed: build' },
    ],
    [
      'merged',
      mergedWorker(),
      merged,
      {
        rule: 'acme/web#12 is merged, and no deployment of it has started in production.',
        waitsFor: 'a deployment of aaaaaaa in production',
        until: sampleTime('11:30'),
      },
    ],
    [
      'merged, and nobody said as what',
      mergedWorker({ merge: { sha: null, at: sampleTime('11:00'), seq: 40 } }),
      merged,
      { waitsFor: 'the code host to name the merge commit', unknown: ['The merge commit is not known.'] },
    ],
    [
      'deploying',
      mergedWorker({ status: 'deploying' }, { deploymentId: 41 }),
      merged,
      {
        rule: 'Deployment 41 has started in production and has not ended.',
        waitsFor: 'deployment 41 to succeed in production',
        until: sampleTime('11:30'),
      },
    ],
    [
      'deploy-failed within the budget',
      mergedWorker({ status: 'deploy-failed' }, { deploymentId: 41, attempts: failedOnce }),
      merged,
      {
        rule: 'Deployment 41 failed in production: 1 of 3 attempts are used.',
        waitsFor: 'a new deployment of aaaaaaa in production',
        until: sampleTime('11:30'),
      },
    ],
    [
      'exhausted',
      mergedWorker(
        { status: 'deploy-failed' },
        { deploymentId: 43, attempts: exhausted, result: 'budget-exhausted' },
      ),
      merged,
      {
        rule: '3 deployments failed in production, which is the budget: only a person moves it on.',
        waitsFor: 'a person: svc deploy retry ENG-1, or svc deploy accept ENG-1',
        until: null,
      },
    ],
    [
      'stalled by its deadline',
      mergedWorker({ status: 'stalled' }, { result: 'timeout' }),
      merged,
      {
        rule: `Nothing had succeeded in production by the deadline ${sampleTime('11:30')}.`,
        waitsFor:
          'a late success in production, or a person: svc deploy retry ENG-1, or svc deploy accept ENG-1',
        until: null,
      },
    ],
    [
      'stalled by its own word',
      sampleWorker({ status: 'stalled' }),
      {},
      { rule: 'The signal file says stalled, and no merge was seen since.', waitsFor: null },
    ],
    [
      'done by a deployment',
      mergedWorker(
        { status: 'done' },
        { result: 'success', provenBy: { deploymentId: 41, sha: sampleMergeSha } },
      ),
      merged,
      { rule: 'Deployment 41 of aaaaaaa succeeded in production.', waitsFor: null, until: null },
    ],
    [
      'done by a descendant',
      mergedWorker(
        { status: 'done' },
        { result: 'success', provenBy: { deploymentId: 41, sha: 'b'.repeat(40) } },
      ),
      merged,
      { rule: 'Deployment 41 of bbbbbbb (it contains aaaaaaa) succeeded in production.' },
    ],
    [
      'done without proof',
      { ...mergedWorker({ status: 'done' }), deploy: null },
      merged,
      { rule: 'acme/web#12 is merged, and acme/web is configured without proof of a deployment.' },
    ],
    [
      'done by a person',
      mergedWorker({ status: 'done' }, { result: 'accepted', completedAt: sampleTime('11:40') }),
      merged,
      { rule: 'A person accepted it as done.' },
    ],
  ])('%s', (_, worker, more, expected) => {
    expect(whyOf(worker, more)).toMatchObject(expected);
    expect(whyOf(worker, more).contradictions).toEqual([]);
  });
});

describe('contradictions', () => {
  test.each<[string, Worker, Parameters<typeof sampleBoard>[0], string[]]>([
    [
      'an unproven claim',
      sampleWorker({ claim: { status: 'done', at: sampleTime('10:00'), seq: 20 } }),
      {},
      ['The signal file says done, but what was seen makes it implementing.'],
    ],
    [
      'a merge while the worker failed',
      sampleWorker({ status: 'canceled' }),
      merged,
      ['acme/web#12 is merged, but the worker is canceled.'],
    ],
    [
      'a closed pull request',
      sampleWorker({ status: 'pr-created' }),
      { pullRequests: [samplePullRequest({ state: 'closed' })] },
      ['acme/web#12 was closed without a merge, but the worker is pr-created.'],
    ],
    [
      'accepted, and never merged',
      mergedWorker({ status: 'done', merge: null }, { result: 'accepted' }),
      { pullRequests: [samplePullRequest()] },
      ['The worker is done, but acme/web#12 is not merged.'],
    ],
    [
      'a success after the budget',
      mergedWorker({ status: 'deploy-failed' }, { attempts: exhausted, result: 'budget-exhausted' }),
      { ...merged, deployments: [success({ id: 44 })] },
      ['Deployment 44 of aaaaaaa succeeded in production, but the budget was used up: a person decides.'],
    ],
    [
      'a dead process',
      sampleWorker({ process: { state: 'dead', since: sampleTime('09:30'), seq: 12 } }),
      {},
      ['The process does not run, but the status is implementing.'],
    ],
    [
      'a signal file that is gone',
      sampleWorker({ removed: true }),
      {},
      ['The signal file is gone, but the status was implementing.'],
    ],
    [
      'a ticket that is done at the tracker',
      sampleWorker(),
      { tickets: [sampleTicket({ state: { id: null, name: 'Done', type: 'completed' } })] },
      ['The tracker says Done, but the worker is implementing.'],
    ],
  ])('%s', (_, worker, more, expected) => {
    expect(whyOf(worker, more).contradictions).toEqual(expected);
  });

  test('a dead process of a merged worker is none', () => {
    const worker = mergedWorker({ process: { state: 'dead', since: sampleTime('11:05'), seq: 45 } });
    expect(whyOf(worker, merged).contradictions).toEqual([]);
  });
});

describe('what is not known', () => {
  test.each<[string, Worker, Parameters<typeof sampleBoard>[0], number, string[]]>([
    [
      'a feed that is blind',
      sampleWorker(),
      {
        feeds: [
          {
            feed: 'codehost',
            grade: 'blind',
            since: sampleTime('11:00'),
            reason: null,
            remedy: null,
            lastSeq: 9,
          },
        ],
      },
      before,
      [`The codehost feed is blind since ${sampleTime('11:00')}: what was not seen may still have happened.`],
    ],
    [
      'a pull request that nobody saw',
      sampleWorker({ status: 'pr-created', pr: { number: 12, url: null } }),
      {},
      before,
      ['acme/web#12 was not seen at the code host.'],
    ],
    [
      'whether it runs',
      sampleWorker({ process: { state: 'unknown', since: sampleTime('09:00'), seq: 10 } }),
      {},
      before,
      ['Whether the process runs is not known.'],
    ],
    [
      'an unreadable file',
      sampleWorker({ corrupt: { path: '/x', problem: 'not JSON', seq: 12 } }),
      {},
      before,
      ['The signal file is unreadable: what the worker says now is not known.'],
    ],
    [
      'a deadline that has just passed',
      mergedWorker(),
      merged,
      noon,
      ['The deadline has passed; the code host is asked once more before it is given up.'],
    ],
    [
      'another commit in production',
      mergedWorker(),
      { ...merged, deployments: [success({ id: 44, sha: 'b'.repeat(40) })] },
      before,
      ['Deployment 44 is of bbbbbbb: that it contains the merge is not proven.'],
    ],
    [
      'whether it can be merged',
      sampleWorker(),
      { pullRequests: [samplePullRequest({ mergeable: null, mergeableState: null })] },
      before,
      ['Whether acme/web#12 can be merged is not known.'],
    ],
  ])('%s', (_, worker, more, now, expected) => {
    expect(whyOf(worker, more, now).unknown).toEqual(expected);
  });
});

test('facts in the order of the log, each with how it is known', () => {
  const worker = mergedWorker(
    { status: 'done', claim: { status: 'implementing', at: sampleTime('09:00'), seq: 10 }, statusSeq: 55 },
    { result: 'success', provenBy: { deploymentId: 41, sha: sampleMergeSha } },
  );
  const other = sampleWorker({
    orchestrator: 'run-0',
    status: 'failed',
    lastSeq: 2,
    lastAt: sampleTime('07:00'),
  });
  const { facts } = whyOf(worker, {
    ...merged,
    workers: [worker, other],
    deployments: [
      success(),
      success({ id: 40, sha: 'b'.repeat(40) }),
      success({ id: 39, environment: 'staging' }),
    ],
    tickets: [sampleTicket()],
  });
  expect(facts.map(({ seq, source, text }) => [seq, source, text])).toEqual([
    [2, 'claimed', 'Run run-0 has a worker for it too, which is failed.'],
    [5, 'observed', 'The tracker says In Progress.'],
    [10, 'claimed', 'The signal file says implementing.'],
    [10, 'observed', 'The process runs.'],
    [20, 'observed', 'acme/web#12 was opened.'],
    [30, 'observed', 'Checks, build: success.'],
    [40, 'observed', 'acme/web#12 was merged as aaaaaaa.'],
    [50, 'observed', 'Deployment 41 of aaaaaaa in production: in_progress.'],
    [55, 'fetched', 'Deployment 41 of aaaaaaa in production: success.'],
  ]);
});

test('the end of the standard error of a process that is gone', () => {
  const process = { state: 'dead', since: sampleTime('09:30'), seq: 12, stderr: 'a\nb' } as const;
  expect(whyOf(sampleWorker({ process })).facts.map(({ text }) => text)).toEqual([
    'The signal file says implementing.',
    'The process does not run.',
    'Its standard error ends with: a | b',
  ]);
});

test('a deployment in another environment is listed with why it does not count, until it is done', () => {
  const worker = mergedWorker({}, {});
  const given = { ...merged, workers: [worker], deployments: [success({ id: 39, environment: 'staging' })] };
  expect(whyOf(worker, given).facts.map(({ text }) => text)).toContain(
    'Deployment 39 of aaaaaaa in staging: success. It does not count: production is the environment that svc.deploy waits for.',
  );
});

test('a merge under an unknown policy waits for the configuration or a person', () => {
  const worker = mergedWorker({ policy: unknownDeployPolicy, deploy: null });
  const { rule, waitsFor } = whyOf(worker, { ...merged, workers: [worker] });
  expect(rule).toBe(
    "acme/web#12 is merged, and whether acme/web needs proof of a deployment is unknown: the project's configuration cannot be read.",
  );
  expect(waitsFor).toBe(
    'a configuration that can be read (svc config validate), or a person: svc deploy accept ENG-1',
  );
});

describe('by name', () => {
  test('the newest worker of the ticket, or the one of a run; capitals do not matter', () => {
    const old = sampleWorker({ orchestrator: 'run-0', status: 'failed', lastSeq: 5 });
    const board = sampleBoard({ workers: [old, sampleWorker()] });
    expect(whyTicket(board, 'eng-1', before)?.orchestrator).toBe('run-1');
    expect(whyTicket(board, 'ENG-1', before, 'run-0')?.status).toBe('failed');
    expect(whyTicket(board, 'ENG-1', before, 'run-9')).toBeUndefined();
  });

  test('a ticket without a worker: what is known, and that the rest is not', () => {
    const board = sampleBoard({ pullRequests: [samplePullRequest()] });
    expect(whyTicket(board, 'ENG-1', before)).toMatchObject({
      status: 'unknown',
      since: null,
      rule: 'No run has a worker for it.',
      waitsFor: 'acme/web#12 to be merged: it is ready',
      unknown: ['No signal file names ENG-1: whether somebody works on it is not known.'],
    });
  });

  test('a ticket that nobody knows', () => {
    expect(whyTicket(sampleBoard(), 'ENG-1', before)).toBeUndefined();
  });

  test('of several pull requests that name it, the one that was not closed', () => {
    const pullRequests = [
      samplePullRequest({ number: 13, state: 'closed', firstSeq: 25 }),
      samplePullRequest({ number: 12, firstSeq: 20 }),
    ];
    const board = sampleBoard({ workers: [sampleWorker({ branch: null })], pullRequests });
    expect(whyTicket(board, 'ENG-1', before)?.waitsFor).toBe('acme/web#12 to be merged: it is ready');
  });
});
