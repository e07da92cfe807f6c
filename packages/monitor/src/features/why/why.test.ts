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
import { logged, moment } from '../../kernel/board/testing/lines.ts';
import { emptyBoard, foldLine } from '../board.ts';
import type { Deployment } from '../deploy/deployment.ts';
import { unknownDeployPolicy } from '../deploy/policy.ts';
import type { Why } from '../workers/api.ts';
import type { Worker } from '../workers/worker.ts';
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
        rule: 'The agent says: implementing.',
        waitsFor: "the agent's next update",
        until: null,
      },
    ],
    ['dispatched', sampleWorker({ status: 'dispatched' }), {}, { waitsFor: 'the agent to start' }],
    [
      'pr-created and ready',
      sampleWorker({ status: 'pr-created', pr: { number: 12, url: null } }),
      { pullRequests: [samplePullRequest()] },
      { waitsFor: 'acme/web#12 to be merged (it is ready)' },
    ],
    [
      'pr-created, with failed checks',
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
        rule: 'acme/web#12 is merged, but no deployment to production has started.',
        waitsFor: 'a deployment of aaaaaaa to production',
        until: sampleTime('11:30'),
      },
    ],
    [
      'merged, with an unknown commit',
      mergedWorker({ merge: { sha: null, at: sampleTime('11:00'), seq: 40 } }),
      merged,
      { waitsFor: 'the code host to report the merge commit', unknown: ['The merge commit is not known.'] },
    ],
    [
      'deploying',
      mergedWorker({ status: 'deploying' }, { deploymentId: 41 }),
      merged,
      {
        rule: 'Deployment 41 to production has started but not finished.',
        waitsFor: 'deployment 41 to production to succeed',
        until: sampleTime('11:30'),
      },
    ],
    [
      'deploy-failed within the budget',
      mergedWorker({ status: 'deploy-failed' }, { deploymentId: 41, attempts: failedOnce }),
      merged,
      {
        rule: 'Deployment 41 to production failed: 1 of 3 attempts used.',
        waitsFor: 'a new deployment of aaaaaaa to production',
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
        rule: '3 deployments to production failed, which exhausts the budget: a person has to decide.',
        waitsFor: 'a person: svc deploy retry ENG-1 or svc deploy accept ENG-1',
        until: null,
      },
    ],
    [
      'stalled by its deadline',
      mergedWorker({ status: 'stalled' }, { result: 'timeout' }),
      merged,
      {
        rule: `No deployment to production succeeded by the deadline ${sampleTime('11:30')}.`,
        waitsFor:
          'a late deployment to production, or a person: svc deploy retry ENG-1 or svc deploy accept ENG-1',
        until: null,
      },
    ],
    [
      'stalled, as it reports itself',
      sampleWorker({ status: 'stalled' }),
      {},
      { rule: 'The agent says: stalled, and no merge has been seen since.', waitsFor: null },
    ],
    [
      'done by a deployment',
      mergedWorker(
        { status: 'done' },
        { result: 'success', provenBy: { deploymentId: 41, sha: sampleMergeSha } },
      ),
      merged,
      { rule: 'Deployment 41 of aaaaaaa to production succeeded.', waitsFor: null, until: null },
    ],
    [
      'done by a descendant',
      mergedWorker(
        { status: 'done' },
        { result: 'success', provenBy: { deploymentId: 41, sha: 'b'.repeat(40) } },
      ),
      merged,
      { rule: 'Deployment 41 of bbbbbbb (which contains aaaaaaa) to production succeeded.' },
    ],
    [
      'done without proof',
      { ...mergedWorker({ status: 'done' }), deploy: null },
      merged,
      { rule: 'acme/web#12 is merged, and acme/web does not require a verified deployment.' },
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

test('a process that is started again after a pause is named as what it waits for', () => {
  const process = { state: 'dead', since: sampleTime('11:00'), seq: 3, reviving: true } as const;
  expect(whyOf(sampleWorker({ process }), {}).waitsFor).toBe(
    'its agent to be started again, or a person: svc orchestrate retry run-1 ENG-1',
  );
});

test.each([
  ['implementing', 'worker-dead', 'dead', 'a person: svc orchestrate retry run-1 ENG-1'],
  ['failed', 'worker-dead', 'dead', 'a person: svc orchestrate retry run-1 ENG-1'],
  ['stalled', 'worker-stalled', 'dead', 'a person: svc orchestrate retry run-1 ENG-1'],
  ['stalled', 'worker-stalled', 'alive', null],
] as const)('%s, %s, and its process is %s', (status, reason, state, waitsFor) => {
  const process = { state, since: sampleTime('11:00'), seq: 3 };
  expect(whyOf(sampleWorker({ status, process, raised: [reason] }), {}).waitsFor).toBe(waitsFor);
});

test('a pull request that was closed waits for a person', () => {
  const worker = sampleWorker({ status: 'pr-created', raised: ['pr-closed'] });
  expect(whyOf(worker, { pullRequests: [samplePullRequest({ state: 'closed' })] }).waitsFor).toBe(
    'a person: reopen acme/web#12, or svc orchestrate cancel run-1 ENG-1',
  );
});

describe('an agent that does nothing, from its events', () => {
  const scope = { orchestrator: 'run-1', ticket: 'ENG-1' };
  const file = { ...scope, workerName: 'w', startedAt: moment(0), updatedAt: moment(0) };
  const waitAfter = (status: string, ...lines: [event: string, detail: object][]) => {
    const board = emptyBoard();
    const all: typeof lines = [
      ['orchestrator.worker.status_changed', { to: status, signal: { ...file, status } }],
      ['agent.session.started', { attempt: 1, agent: 'codex', protocol: true }],
      ...lines,
    ];
    for (const [event, detail] of all)
      foldLine(board, logged(board.seq + 1, event, { scope, detail: { ...detail } }));
    return whyTicket(board, 'ENG-1', before)?.waitsFor;
  };
  const turn: [string, object] = ['agent.turn.started', { attempt: 1, turn: 1 }];
  const end: [string, object] = ['agent.turn.ended', { attempt: 1, turn: 1, ok: true, reason: 'end_turn' }];
  const stop: [string, object] = ['agent.stopped', { attempt: 1, by: 'kim' }];
  const person = 'a person: svc agent send ENG-1';

  test.each<[string, string, [string, object][], string]>([
    ['it is starting', 'dispatched', [], 'the agent to start'],
    ['it works', 'implementing', [turn], "the agent's next update"],
    ['it stopped before its work was done', 'implementing', [turn, end], person],
    ['it stopped, and has said nothing of its work', 'dispatched', [turn, end], person],
    ['a person stopped it', 'implementing', [turn, stop, end], person],
    ['it goes on', 'implementing', [turn, end, turn], "the agent's next update"],
  ])('%s', (_what, status, lines, waitsFor) => expect(waitAfter(status, ...lines)).toBe(waitsFor));
});

test('every fact of a worker has the time of its event', () => {
  const scope = { orchestrator: 'run-1', ticket: 'ENG-1' };
  const file = { ...scope, workerName: 'w', startedAt: moment(0), updatedAt: moment(0), repo: 'acme/web' };
  const board = emptyBoard();
  const put = (event: string, detail: object = {}): void => {
    foldLine(board, logged(board.seq + 1, event, { scope, detail: { ...detail } }));
  };
  put('orchestrator.worker.status_changed', { to: 'dispatched', signal: { ...file, status: 'dispatched' } });
  const claim = { ...file, status: 'pr-created', pr: { number: 9 } };
  put('orchestrator.worker.status_changed', { to: 'pr-created', signal: claim });
  put('orchestrator.verification.passed', { summary: 'all tests pass' });
  put('orchestrator.worker.corrupt', { path: '/x', problem: 'not JSON' });
  const facts = whyTicket(board, 'ENG-1', before)?.facts ?? [];
  expect(facts.map(({ text, at }) => [text, at])).toEqual([
    ['The agent says: in review.', moment(3)],
    ['The verification of the merge commit passed: all tests pass.', moment(4)],
    ['Its status file cannot be read: not JSON.', moment(5)],
    ['The agent names acme/web#9 as its pull request.', moment(5)],
  ]);
});

test('a retry of the deploy has its time, after the failures', () => {
  const retried = { times: 2, failedUpTo: 41, at: sampleTime('11:18'), seq: 58 };
  const { facts } = whyOf(mergedWorker({}, { retried }), merged);
  expect(facts.at(-1)).toEqual({
    at: sampleTime('11:18'),
    seq: 58,
    source: 'person',
    text: 'A person retried the deploy 2 times.',
  });
});

test.each([
  ['open', 'inProgress', 'The tracker reports Open. No label shows its phase'],
  ['open', null, 'The tracker reports Open.'],
  ['label:In Progress', 'inProgress', 'The tracker reports Open.'],
] as const)('an issue in the state %s, in the phase %s', (id, phase, text) => {
  const tracked = sampleTicket({
    state: { id, name: 'Open', type: 'unstarted' },
    phase: phase && { phase, at: sampleTime('09:00'), seq: 6 },
  });
  const [first] = whyOf(sampleWorker(), { tickets: [tracked] }).facts;
  expect(first?.text.startsWith(text)).toBe(true);
  expect(first?.text.includes('gh label create')).toBe(text.endsWith('phase'));
});

test('a ticket that was only handed to its agent says that it was started', () => {
  const texts = whyOf(sampleWorker({ status: 'dispatched' })).facts.map(({ text }) => text);
  expect(texts).toContain('The agent was started.');
});

describe('contradictions', () => {
  test.each<[string, Worker, Parameters<typeof sampleBoard>[0], string[]]>([
    [
      'an unproven claim',
      sampleWorker({ claim: { status: 'done', at: sampleTime('10:00'), seq: 20 } }),
      {},
      ['The agent says: done, but the observed events show implementing.'],
    ],
    [
      'a merge of a canceled worker',
      sampleWorker({ status: 'canceled' }),
      merged,
      ['acme/web#12 is merged, but the status is canceled.'],
    ],
    [
      'a closed pull request',
      sampleWorker({ status: 'pr-created' }),
      { pullRequests: [samplePullRequest({ state: 'closed' })] },
      ['acme/web#12 was closed without a merge, but the status is in review.'],
    ],
    [
      'accepted, and never merged',
      mergedWorker({ status: 'done', merge: null }, { result: 'accepted' }),
      { pullRequests: [samplePullRequest()] },
      ['The status is done, but acme/web#12 is not merged.'],
    ],
    [
      'a success after the budget was exhausted',
      mergedWorker({ status: 'deploy-failed' }, { attempts: exhausted, result: 'budget-exhausted' }),
      { ...merged, deployments: [success({ id: 44 })] },
      [
        'Deployment 44 of aaaaaaa to production succeeded after the budget was exhausted, so production has it. A person has to confirm it: svc deploy accept ENG-1.',
      ],
    ],
    [
      'a dead process',
      sampleWorker({ process: { state: 'dead', since: sampleTime('09:30'), seq: 12 } }),
      {},
      ['The process is not running, but the status is implementing.'],
    ],
    [
      'a deleted signal file',
      sampleWorker({ removed: true }),
      {},
      ['Its status file was deleted, but the status was implementing.'],
    ],
    [
      'a ticket that is done in the tracker',
      sampleWorker(),
      { tickets: [sampleTicket({ state: { id: null, name: 'Done', type: 'completed' } })] },
      ['The tracker reports Done, but the status is implementing.'],
    ],
  ])('%s', (_, worker, more, expected) => {
    expect(whyOf(worker, more).contradictions).toEqual(expected);
  });

  test('a dead process of a merged worker is not a contradiction', () => {
    const worker = mergedWorker({ process: { state: 'dead', since: sampleTime('11:05'), seq: 45 } });
    expect(whyOf(worker, merged).contradictions).toEqual([]);
  });
});

describe('what is not known', () => {
  test.each<[string, Worker, Parameters<typeof sampleBoard>[0], number, string[]]>([
    [
      'a blind feed',
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
      [`The codehost feed has been blind since ${sampleTime('11:00')}: some events may be missing.`],
    ],
    [
      'a pull request that was never seen',
      sampleWorker({ status: 'pr-created', pr: { number: 12, url: null } }),
      {},
      before,
      ['acme/web#12 has not been seen on the code host.'],
    ],
    [
      'whether the process runs',
      sampleWorker({ process: { state: 'unknown', since: sampleTime('09:00'), seq: 10 } }),
      {},
      before,
      ['It is not known whether the process is running.'],
    ],
    [
      'an unreadable file',
      sampleWorker({ corrupt: { path: '/x', problem: 'not JSON', seq: 12, at: sampleTime('09:10') } }),
      {},
      before,
      ['Its status file cannot be read, so its current status is not known.'],
    ],
    [
      'a deadline that has just passed',
      mergedWorker(),
      merged,
      noon,
      ['The deadline has passed; svc checks the code host once more before the ticket becomes stalled.'],
    ],
    [
      'another commit in production',
      mergedWorker(),
      { ...merged, deployments: [success({ id: 44, sha: 'b'.repeat(40) })] },
      before,
      ['Deployment 44 is of bbbbbbb, which is not proven to contain the merge.'],
    ],
    [
      'whether it can be merged',
      sampleWorker(),
      { pullRequests: [samplePullRequest({ mergeable: null, mergeableState: null })] },
      before,
      ['It is not known whether acme/web#12 can be merged.'],
    ],
  ])('%s', (_, worker, more, now, expected) => {
    expect(whyOf(worker, more, now).unknown).toEqual(expected);
  });
});

test('facts in log order, each with how it is known', () => {
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
    [2, 'claimed', 'Run run-0 also works on this ticket: failed.'],
    [5, 'observed', 'The tracker reports In Progress.'],
    [10, 'claimed', 'The agent says: implementing.'],
    [10, 'observed', 'The process is running.'],
    [20, 'observed', 'acme/web#12 was opened.'],
    [30, 'observed', 'Checks, build: success.'],
    [40, 'observed', 'acme/web#12 was merged as aaaaaaa.'],
    [50, 'observed', 'Deployment 41 of aaaaaaa to production: in progress.'],
    [55, 'fetched', 'Deployment 41 of aaaaaaa to production: success.'],
  ]);
});

test('the end of standard error of a dead process', () => {
  const process = { state: 'dead', since: sampleTime('09:30'), seq: 12, stderr: 'a\nb' } as const;
  expect(whyOf(sampleWorker({ process })).facts.map(({ text }) => text)).toEqual([
    'The agent says: implementing.',
    'The process is not running.',
    'Its standard error ends with: a | b',
  ]);
});

test('a deployment to another environment is listed with why it does not count, until the ticket is done', () => {
  const worker = mergedWorker({}, {});
  const given = { ...merged, workers: [worker], deployments: [success({ id: 39, environment: 'staging' })] };
  expect(whyOf(worker, given).facts.map(({ text }) => text)).toContain(
    'Deployment 39 of aaaaaaa to staging: success. It does not count: svc.deploy waits for production.',
  );
});

test('a merge under an unknown policy waits for the configuration or a person', () => {
  const worker = mergedWorker({ policy: unknownDeployPolicy, deploy: null });
  const { rule, waitsFor } = whyOf(worker, { ...merged, workers: [worker] });
  expect(rule).toBe(
    "acme/web#12 is merged, but the project's configuration cannot be read, so it is unknown whether acme/web requires a verified deployment.",
  );
  expect(waitsFor).toBe(
    'a readable configuration (svc config validate), or a person: svc deploy accept ENG-1',
  );
});

describe('by name', () => {
  test('the newest worker of the ticket, or that of a run; case does not matter', () => {
    const old = sampleWorker({ orchestrator: 'run-0', status: 'failed', lastSeq: 5 });
    const board = sampleBoard({ workers: [old, sampleWorker()] });
    expect(whyTicket(board, 'eng-1', before)?.orchestrator).toBe('run-1');
    expect(whyTicket(board, 'ENG-1', before, 'run-0')?.status).toBe('failed');
    expect(whyTicket(board, 'ENG-1', before, 'run-9')).toBeUndefined();
  });

  test('a ticket without a worker: what is known, and what is not', () => {
    const board = sampleBoard({ pullRequests: [samplePullRequest()] });
    expect(whyTicket(board, 'ENG-1', before)).toMatchObject({
      status: 'unknown',
      since: null,
      rule: 'No run works on this ticket.',
      waitsFor: 'acme/web#12 to be merged (it is ready)',
      unknown: ['No run works on ENG-1. To start one: svc orchestrate start ENG-1'],
    });
  });

  test('an unknown ticket', () => {
    expect(whyTicket(sampleBoard(), 'ENG-1', before)).toBeUndefined();
  });

  test('the open one of several pull requests that name it', () => {
    const pullRequests = [
      samplePullRequest({ number: 13, state: 'closed', firstSeq: 25 }),
      samplePullRequest({ number: 12, firstSeq: 20 }),
    ];
    const board = sampleBoard({ workers: [sampleWorker({ branch: null })], pullRequests });
    expect(whyTicket(board, 'ENG-1', before)?.waitsFor).toBe('acme/web#12 to be merged (it is ready)');
  });
});
