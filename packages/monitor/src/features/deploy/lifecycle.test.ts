import { expect, test } from 'vitest';
import type { DeployPolicy, DeployWorker } from '../workers/deploy-fields.ts';
import { deployStep } from './lifecycle.ts';
import {
  accept,
  claimed,
  contains,
  deployment,
  effectText,
  merged,
  minute,
  newWorker,
  type PlainFact,
  retry,
  skipped,
  time,
  verified,
} from './testing/plain-facts.ts';

/** A fact, with its minute if that matters; otherwise one minute after the other. */
type Timed = PlainFact | [PlainFact, number];
type Row = [name: string, before: Timed[], fact: Timed, status: DeployWorker['status'], effects: string[]];

function after(policy: DeployPolicy, facts: Timed[]) {
  let step = deployStep(newWorker(policy), { kind: 'time', seq: 1, at: minute(0) });
  for (const [index, timed] of facts.entries()) {
    const [fact, at] = Array.isArray(timed) ? timed : [timed, index];
    step = deployStep(step.worker, { ...fact, seq: index + 2, at: minute(at) });
  }
  return { ...step, texts: step.effects.map(effectText) };
}

function outcome(policy: DeployPolicy, before: Timed[], fact: Timed) {
  const { worker, texts } = after(policy, [...before, fact]);
  return { status: worker.status, effects: texts };
}

const isOpen: Timed[] = [claimed('pr-created')];
const isMerged: Timed[] = [...isOpen, merged()];
const isDeploying: Timed[] = [...isMerged, deployment(1, 'created')];
const failedOnce: Timed[] = [...isDeploying, deployment(1, 'failure')];
const failedTwice: Timed[] = [...failedOnce, deployment(2, 'error')];
const isExhausted: Timed[] = [...failedTwice, deployment(3, 'failure')];
const isTimedOut: Timed[] = [...isDeploying, [time, 31]];
const isDone: Timed[] = [...isDeploying, deployment(1, 'success')];

const toDeploying = ['report started', 'write-signal'];
const toDone = ['write-signal', 'move-ticket done', 'report succeeded'];
const toFailed = ['report failed', 'write-signal', 'raise deploy-failed medium'];
const toExhausted = ['report failed', 'write-signal', 'raise deploy-budget-exhausted high'];
const toStalled = ['write-signal', 'raise deploy-timeout high'];

test('the spec: a merged pull request goes straight to done if the verification is skipped', () => {
  const effects = ['write-signal', 'move-ticket done'];
  expect(outcome(skipped, isOpen, merged())).toEqual({ status: 'done', effects });
});

test.each<Row>([
  ['pull request open, MERGED', isOpen, merged(), 'merged', ['write-signal']],
  ['merged, deployment created', isMerged, deployment(1, 'created'), 'deploying', toDeploying],
  ['merged, deployment_status pending', isMerged, deployment(1, 'pending'), 'deploying', toDeploying],
  ['merged, deployment_status in_progress', isMerged, deployment(1, 'in_progress'), 'deploying', toDeploying],
  ['deploying, deployment_status success', isDeploying, deployment(1, 'success'), 'done', toDone],
  ['deploying, deployment_status failure', isDeploying, deployment(1, 'failure'), 'deploy-failed', toFailed],
  ['deploying, deployment_status error', isDeploying, deployment(1, 'error'), 'deploy-failed', toFailed],
  [
    'deploy-failed, the third attempt',
    failedTwice,
    deployment(3, 'failure'),
    'deploy-failed',
    [...toExhausted, 'resolve deploy-failed'],
  ],
  ['exhausted, success', isExhausted, deployment(4, 'success'), 'deploy-failed', []],
  ['exhausted, timeoutSec', isExhausted, [time, 600], 'deploy-failed', []],
  ['merged, timeoutSec', isMerged, [time, 31], 'stalled', toStalled],
  ['deploying, timeoutSec', isDeploying, [time, 31], 'stalled', toStalled],
])('the spec: %s', (_, before, fact, status, effects) => {
  expect(outcome(verified, before, fact)).toEqual({ status, effects });
});

test.each<Row>([
  [
    'deploy-failed returns to deploying when a new deployment starts',
    failedTwice,
    deployment(3, 'created'),
    'deploying',
    [...toDeploying, 'resolve deploy-failed'],
  ],
  ['… not when the failed one is reported again', failedTwice, deployment(2, 'created'), 'deploy-failed', []],
  ['… nor an older one', failedTwice, deployment(1, 'in_progress'), 'deploy-failed', []],
  [
    '… nor in another environment',
    failedTwice,
    deployment(3, 'created', 'merge', 'staging'),
    'deploy-failed',
    [],
  ],
  ['… nor when three have failed', isExhausted, deployment(4, 'created'), 'deploy-failed', []],
  ['a repeated status is not an attempt', failedOnce, deployment(1, 'failure'), 'deploy-failed', []],
  ['… whether failure or error', failedOnce, deployment(1, 'error'), 'deploy-failed', []],
  ['a success seen in merged', isMerged, deployment(1, 'success'), 'done', ['report started', ...toDone]],
  ['the clock starts at the merge: not yet', isDeploying, [time, 30.99], 'deploying', []],
  ['the clock starts at the merge: now', isDeploying, [time, 31], 'stalled', toStalled],
  [
    'the clock applies in deploy-failed within budget',
    failedTwice,
    [time, 31],
    'stalled',
    [...toStalled, 'resolve deploy-failed'],
  ],
  [
    'after exhaustion a person retries',
    isExhausted,
    retry,
    'merged',
    ['write-signal', 'resolve deploy-budget-exhausted'],
  ],
  [
    'after exhaustion a person accepts',
    isExhausted,
    accept,
    'done',
    ['write-signal', 'move-ticket done', 'resolve deploy-budget-exhausted'],
  ],
  [
    'another SHA requests a proof',
    isDeploying,
    deployment(2, 'success', 'later'),
    'deploying',
    ['prove later'],
  ],
  [
    'another SHA counts when it contains the merge',
    [...isDeploying, contains('later')],
    deployment(2, 'success', 'later'),
    'done',
    toDone,
  ],
  [
    '… and its failures too',
    [...isDeploying, contains('later')],
    deployment(2, 'failure', 'later'),
    'deploy-failed',
    toFailed,
  ],
])('the design: %s', (_, before, fact, status, effects) => {
  expect(outcome(verified, before, fact)).toEqual({ status, effects });
});

test.each<Row>([
  ['requests no proof', isDeploying, deployment(2, 'success', 'later'), 'deploying', []],
  ['does not count', [...isDeploying, contains('later')], deployment(2, 'success', 'later'), 'deploying', []],
])('the design: without acceptDescendants another SHA %s', (_, before, fact, status, effects) => {
  expect(outcome({ ...verified, acceptDescendants: false }, before, fact)).toEqual({ status, effects });
});

test.each<Row>([
  ['queued is a start', isMerged, deployment(1, 'queued'), 'deploying', toDeploying],
  ['waiting is a start', isMerged, deployment(1, 'waiting'), 'deploying', toDeploying],
  ['inactive changes nothing', isDeploying, deployment(1, 'inactive'), 'deploying', []],
  ['a failure seen in merged', isMerged, deployment(1, 'failure'), 'deploy-failed', toFailed],
  ['a failure whose start was missed', failedOnce, deployment(2, 'failure'), 'deploy-failed', toFailed],
  [
    'a success after a failure',
    failedOnce,
    deployment(2, 'success'),
    'done',
    [...toDone, 'resolve deploy-failed'],
  ],
  ['a state reported twice', isDeploying, deployment(1, 'created'), 'deploying', []],
  ['a newer deployment', isDeploying, deployment(2, 'created'), 'deploying', toDeploying],
  [
    'the late failure of an overtaken deployment is only counted',
    [...isDeploying, deployment(2, 'created')],
    deployment(1, 'failure'),
    'deploying',
    ['report failed', 'write-signal'],
  ],
  [
    '… but the third one exhausts the budget',
    [...failedTwice, deployment(4, 'created')],
    deployment(3, 'failure'),
    'deploy-failed',
    toExhausted,
  ],
  [
    'a success of an overtaken deployment',
    [...isDeploying, deployment(2, 'created')],
    deployment(1, 'success'),
    'done',
    toDone,
  ],
  [
    'environment names are case-insensitive',
    isDeploying,
    deployment(1, 'success', 'merge', 'Production'),
    'done',
    toDone,
  ],
  [
    'another environment does not count',
    isMerged,
    deployment(1, 'success', 'merge', 'Production (EU)'),
    'merged',
    [],
  ],
  ['before the merge nothing counts', isOpen, deployment(1, 'success'), 'pr-created', []],
  ['… and nothing is proven', isOpen, contains('later'), 'pr-created', []],
])('deployments: %s', (_, before, fact, status, effects) => {
  expect(outcome(verified, before, fact)).toEqual({ status, effects });
});

const shaUnknown: Timed[] = [...isOpen, merged(null)];
test.each<Row>([
  ['an unknown SHA is requested', isOpen, merged(null), 'merged', ['write-signal', 'refresh-pull-request']],
  ['until then nothing counts', shaUnknown, deployment(1, 'success'), 'merged', []],
  ['it is filled in', shaUnknown, merged(), 'merged', ['write-signal']],
  ['… and counts', [...shaUnknown, merged()], deployment(1, 'created'), 'deploying', toDeploying],
  ['a second merge is ignored', isDeploying, merged('other'), 'deploying', []],
  ['a failed worker becomes merged', [claimed('failed')], merged(), 'merged', ['write-signal']],
  ['… and so does a stalled one', [claimed('stalled')], merged(), 'merged', ['write-signal']],
  ['a canceled worker stays canceled', [claimed('canceled')], merged(), 'canceled', []],
  ['… until it is resumed', [claimed('canceled'), merged()], claimed('shipping'), 'shipping', []],
  [
    '… and reports that it merged',
    [claimed('canceled'), merged(), claimed('shipping')],
    claimed('merged'),
    'merged',
    ['write-signal'],
  ],
  [
    '… or the merge is reported again',
    [claimed('canceled'), merged(), claimed('shipping')],
    merged(),
    'merged',
    ['write-signal'],
  ],
])('the merge: %s', (_, before, fact, status, effects) => {
  expect(outcome(verified, before, fact)).toEqual({ status, effects });
});

test.each<Row>([
  ['it ships late', isTimedOut, deployment(1, 'success'), 'done', [...toDone, 'resolve deploy-timeout']],
  ['a start does not move it', isTimedOut, deployment(2, 'created'), 'stalled', []],
  [
    'a failure is only counted',
    isTimedOut,
    deployment(1, 'failure'),
    'stalled',
    ['report failed', 'write-signal'],
  ],
  [
    '… and never more than three',
    [...isTimedOut, deployment(1, 'failure'), deployment(2, 'failure'), deployment(3, 'failure')],
    deployment(4, 'failure'),
    'stalled',
    [],
  ],
  ['another SHA requests a proof', isTimedOut, deployment(2, 'success', 'later'), 'stalled', ['prove later']],
  ['a person retries', isTimedOut, retry, 'merged', ['write-signal', 'resolve deploy-timeout']],
  [
    'a person accepts',
    isTimedOut,
    accept,
    'done',
    ['write-signal', 'move-ticket done', 'resolve deploy-timeout'],
  ],
  ['the deadline again', isTimedOut, [time, 900], 'stalled', []],
])('stalled by timeout: %s', (_, before, fact, status, effects) => {
  expect(outcome(verified, before, fact)).toEqual({ status, effects });
});

const retried: Timed[] = [...isExhausted, [retry, 40]];
test.each<Row>([
  ['within budget', failedOnce, retry, 'merged', ['write-signal', 'resolve deploy-failed']],
  ['not while it waits', isDeploying, retry, 'deploying', []],
  ['not before the merge', isOpen, retry, 'pr-created', []],
  ['not a worker that stalled before the merge', [claimed('stalled')], retry, 'stalled', []],
  ['an old start does not count', retried, deployment(3, 'in_progress'), 'merged', []],
  ['an old failure does not spend the new budget', retried, deployment(2, 'failure'), 'merged', []],
  ['a newer start', retried, deployment(4, 'created'), 'deploying', toDeploying],
  [
    'a deployment from before the retry may fail',
    [...isTimedOut, retry],
    deployment(1, 'failure'),
    'deploy-failed',
    toFailed,
  ],
  ['the deadline counts from the retry: not yet', retried, [time, 69], 'merged', []],
  ['the deadline counts from the retry: now', retried, [time, 70], 'stalled', toStalled],
  ['accept while it waits', isMerged, accept, 'done', ['write-signal', 'move-ticket done']],
  ['accept without a claim or a merge', isOpen, accept, 'pr-created', []],
])('a person: %s', (_, before, fact, status, effects) => {
  expect(outcome(verified, before, fact)).toEqual({ status, effects });
});

const claimsDone: Timed[] = [...isOpen, claimed('done')];
const oldClaim: PlainFact = { kind: 'claimed', status: 'done', old: true };
const unproven = ['refresh-pull-request', 'raise done-unproven medium'];
test.each<Row>([
  ['a status before the merge is accepted', isOpen, claimed('merging'), 'merging', []],
  ['failed is accepted', isOpen, claimed('failed'), 'failed', []],
  ['stalled is accepted', isOpen, claimed('stalled'), 'stalled', []],
  ['canceled is accepted', isOpen, claimed('canceled'), 'canceled', []],
  ['merged is checked', isOpen, claimed('merged'), 'pr-created', ['refresh-pull-request']],
  ['deploying is checked', isOpen, claimed('deploying'), 'pr-created', ['refresh-pull-request']],
  ['deploy-failed is checked', isOpen, claimed('deploy-failed'), 'pr-created', ['refresh-pull-request']],
  ['done is checked, and shown', isOpen, claimed('done'), 'pr-created', unproven],
  ['done, written long before it was first seen', isOpen, oldClaim, 'pr-created', ['refresh-pull-request']],
  ['done again', claimsDone, claimed('done'), 'pr-created', []],
  ['done withdrawn', claimsDone, claimed('merging'), 'merging', ['resolve done-unproven']],
  [
    'done withdrawn, back to the known status',
    claimsDone,
    claimed('pr-created'),
    'pr-created',
    ['resolve done-unproven'],
  ],
  ['done, then merged: not resolved yet', claimsDone, merged(), 'merged', ['write-signal']],
  [
    '… but once it shipped',
    [...claimsDone, merged()],
    deployment(1, 'success'),
    'done',
    ['report started', ...toDone, 'resolve done-unproven'],
  ],
  [
    'done, accepted',
    claimsDone,
    accept,
    'done',
    ['write-signal', 'move-ticket done', 'resolve done-unproven'],
  ],
  ['after the merge none is accepted', isDeploying, claimed('done'), 'deploying', []],
  ['… not even canceled', isDeploying, claimed('canceled'), 'deploying', []],
])('claims: %s', (_, before, fact, status, effects) => {
  expect(outcome(verified, before, fact)).toEqual({ status, effects });
});

test('a claim of done is resolved by a merge without verification', () => {
  const effects = ['write-signal', 'move-ticket done', 'resolve done-unproven'];
  expect(outcome(skipped, claimsDone, merged())).toEqual({ status: 'done', effects });
});

test.each<[string, Timed]>([
  ['a failure', deployment(2, 'failure')],
  ['a start', deployment(2, 'created')],
  ['another success', deployment(2, 'success')],
  ['a merge', merged('other')],
  ['a proof', contains('later')],
  ['time', [time, 10_000]],
  ['retry', retry],
  ['accept', accept],
])('done is not moved by %s, and the worker object is the same', (_, fact) => {
  const { worker } = after(verified, isDone);
  const [plain, at] = Array.isArray(fact) ? fact : [fact, 20];
  const step = deployStep(worker, { ...plain, seq: 99, at: minute(at) });
  expect(step.effects).toEqual([]);
  expect(step.worker).toBe(worker);
});

test('a contradicting claim is kept beside the known status, and dropped when it comes true', () => {
  const contradicted = after(verified, [...isDone, claimed('implementing')]).worker;
  expect(contradicted).toMatchObject({ status: 'done', claim: { status: 'implementing', seq: 6 } });
  expect(after(verified, [...isDone, claimed('implementing'), claimed('done')]).worker.claim).toBeNull();
  expect(after(verified, [...isMerged, claimed('deploying')]).worker.claim?.status).toBe('deploying');
  expect(
    after(verified, [...isMerged, claimed('deploying'), deployment(1, 'created')]).worker.claim,
  ).toBeNull();
});

test('what is known about the deploy at each point', () => {
  expect(after(verified, isMerged).worker.deploy).toEqual({
    environment: 'production',
    deploymentId: null,
    attempts: [],
    startedAt: null,
    deadline: minute(31),
    completedAt: null,
    result: null,
    containedIn: [],
    provenBy: null,
  });
  expect(after(verified, isExhausted).worker.deploy).toMatchObject({
    deploymentId: 3,
    startedAt: minute(2),
    attempts: [
      { deploymentId: 1, state: 'failure', failedAt: minute(3) },
      { deploymentId: 2, state: 'error', failedAt: minute(4) },
      { deploymentId: 3, state: 'failure', failedAt: minute(5) },
    ],
    result: 'budget-exhausted',
  });
  expect(after(verified, retried).worker.deploy).toMatchObject({
    deploymentId: 3,
    attempts: [],
    retried: { times: 1, failedUpTo: 3 },
    startedAt: null,
    deadline: minute(70),
    result: null,
  });
  expect(after(verified, isTimedOut).worker.deploy).toMatchObject({ result: 'timeout', completedAt: null });
  const late = after(verified, [...isTimedOut, contains('later'), deployment(7, 'success', 'later')]).worker;
  expect(late.deploy).toMatchObject({
    result: 'success',
    completedAt: minute(5),
    provenBy: { deploymentId: 7, sha: 'later' },
  });
  expect(after(verified, [...claimsDone, accept]).worker).toMatchObject({
    status: 'done',
    merge: null,
    claim: null,
    deploy: { result: 'accepted', completedAt: minute(2), provenBy: null },
  });
});

test('a merge while canceled, or after an acceptance, is noted', () => {
  const merge = { sha: 'merge', at: minute(1), seq: 3 };
  expect(after(verified, [claimed('canceled'), merged()]).worker).toMatchObject({ merge, deploy: null });
  const accepted = after(verified, [...claimsDone, accept, merged()]);
  expect(accepted.worker).toMatchObject({ status: 'done', merge: { sha: 'merge' } });
  expect(accepted.texts).toEqual([]);
});

test('a retry reads the environment again', () => {
  const { worker } = after(verified, isTimedOut);
  const fixed = { ...worker, policy: { ...verified, productionEnvironment: 'live', timeoutSec: 60 } };
  const step = deployStep(fixed, { ...retry, seq: 50, at: minute(40) });
  expect(step.worker.deploy).toMatchObject({ environment: 'live', deadline: minute(41) });
});

test('a failure keeps its description and log, and the attention item shows them', () => {
  const { worker } = after(verified, isDeploying);
  const { effects, worker: failed } = deployStep(worker, {
    kind: 'deployment',
    id: 1,
    state: 'failure',
    sha: 'merge',
    environment: 'production',
    task: 'deploy',
    seq: 9,
    at: minute(9),
    description: 'no space',
    logUrl: 'https://ci.example/1',
  });
  expect(failed.deploy?.attempts).toEqual([
    {
      deploymentId: 1,
      state: 'failure',
      failedAt: minute(9),
      description: 'no space',
      logUrl: 'https://ci.example/1',
    },
  ]);
  expect(effects).toContainEqual({
    kind: 'raise',
    reason: 'deploy-failed',
    message: 'Deployment 1 to production failed (1 of 3): no space',
    severity: 'medium',
    remedy: 'svc deploy retry',
  });
});

test('uses the configured timeout and environment', () => {
  const own = { ...verified, timeoutSec: 120, productionEnvironment: 'live' };
  expect(outcome(own, isMerged, [time, 2]).status).toBe('merged');
  expect(outcome(own, isMerged, [time, 3]).status).toBe('stalled');
  const success = deployment(1, 'success');
  expect(outcome(own, isMerged, success).status).toBe('merged');
  expect(outcome(own, isMerged, deployment(1, 'success', 'merge', 'live')).status).toBe('done');
});

test('a timeout of any size gives a valid deadline', () => {
  const slow = { ...verified, timeoutSec: Number.MAX_SAFE_INTEGER };
  expect(after(slow, isMerged).worker.deploy?.deadline).toBe('9999-12-31T23:59:59.999Z');
});

test('the number of kept proofs is limited', () => {
  const proofs = Array.from({ length: 130 }, (_, index) => contains(`later-${index}`));
  const kept = after(verified, [...isMerged, ...proofs]).worker.deploy?.containedIn;
  expect(kept).toHaveLength(100);
  expect(kept?.at(-1)).toBe('later-129');
});

test('other fields of a worker stay', () => {
  const worker = { ...newWorker(verified), ticket: 'ABC-1' };
  const step = deployStep(worker, { ...merged(), seq: 1, at: minute(0) });
  expect(step.worker.ticket).toBe('ABC-1');
});
