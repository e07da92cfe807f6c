import { expect, test } from 'vitest';
import { endMarks, markEnd } from '../../agents/io/find-agents.ts';
import { nextActs } from '../next-acts.ts';
import { ownLine, RUN, type RunWorld, runWorld } from '../testing/run-world.ts';
import { createObserver } from './observe.ts';

const lookAt = (world: RunWorld) => createObserver(world)(world.board, world.memory);

test('the limits of a run are those of its project', async () => {
  const world = runWorld();
  const own = {
    maxParallel: 5,
    maxAwaitingReview: 2,
    verifyBeforeMerge: false,
    allowSelfReportedCompletion: true,
    stallAfterSec: 60,
    budget: { ticketUsd: 1, runUsd: 2, dayUsd: null },
  };
  Object.assign(world.project.config.svc.orchestration, own);
  world.begin([['ABC-1']]);
  expect((await lookAt(world)).world.runs.map(({ limits }) => limits)).toEqual([own]);
});

test('a slot is a process that its pid file proves, or a start in progress', async () => {
  const world = runWorld();
  world.begin([['ABC-1', 'ABC-2', 'ABC-3', 'ABC-4']]);
  world.launched('ABC-1', 1, 101);
  world.launched('ABC-2', 1, 102, { lives: false });
  world.launched('ABC-3', 1, null);
  world.memory.starting.set(`${RUN}/ABC-4`, world.now().toISOString());
  const { processes } = (await lookAt(world)).world;
  expect([...processes].map(([key, { state }]) => [key, state])).toEqual([
    [`${RUN}/ABC-1`, 'running'],
    [`${RUN}/ABC-3`, 'starting'],
    [`${RUN}/ABC-4`, 'starting'],
  ]);
});

test('a start that ends while the disk is read keeps its slot in this round', async () => {
  const world = runWorld();
  world.begin([['ABC-1', 'ABC-2']]);
  world.memory.starting.set(`${RUN}/ABC-1`, world.now().toISOString());
  const { of } = world.projects;
  world.projects.of = async () => {
    world.memory.starting.clear();
    return of();
  };
  expect([...(await lookAt(world)).world.processes.keys()]).toEqual([`${RUN}/ABC-1`]);
});

test('a process that cannot be identified takes its slot; another with its pid does not', async () => {
  const world = runWorld();
  world.begin([['ABC-1', 'ABC-2']]);
  world.launched('ABC-1', 1, 101);
  world.processes.set(101, { state: 'unknown', problem: 'hidden' });
  world.launched('ABC-2', 1, 102);
  world.processes.set(102, { state: 'running', startedAt: world.clock.now + 60_000, mark: 'later' });
  const { world: seen } = await lookAt(world);
  expect([...seen.processes.keys()]).toEqual([`${RUN}/ABC-1`]);
});

test('an agent is silent since its last output or change of its signal file, whatever the clock says', async () => {
  const world = runWorld();
  let elapsedMs = 0;
  world.begin([['ABC-1']]);
  world.launched('ABC-1', 1, 101);
  const silentFor = async () => {
    const seen = await createObserver({ ...world, elapsedMs: () => elapsedMs })(world.board, world.memory);
    return seen.world.processes.get(`${RUN}/ABC-1`)?.silentSec;
  };
  const pass = (seconds: number): void => {
    elapsedMs += seconds * 1_000;
  };
  expect(await silentFor()).toBe(0);
  pass(10);
  expect(await silentFor()).toBe(10);
  // The clock is set, or the machine was suspended.
  world.pass(3_600);
  expect(await silentFor()).toBe(10);
  world.printed('ABC-1');
  expect(await silentFor()).toBe(0);
  pass(20);
  expect(await silentFor()).toBe(20);
  world.report(world.signal('ABC-1', { updatedAt: '2026-01-02T04:00:20+01:00' }));
  expect(await silentFor()).toBe(0);
});

test("revivals count from the first launch, and again after a person's retry", async () => {
  const world = runWorld();
  world.begin([['ABC-1']]);
  world.report(world.signal('ABC-1'));
  for (const attempt of [1, 2, 3]) {
    world.launched('ABC-1', attempt, 100 + attempt, { lives: false });
    world.pass(5);
  }
  const revivals = async () => (await lookAt(world)).world.revivals.get(`${RUN}/ABC-1`);
  expect(await revivals()).toMatchObject({
    count: 2,
    lastDeathAt: '2026-01-02T03:00:15.000Z',
    lastEnd: 'died',
  });
  world.pass(5);
  // The death counts from when it was first seen.
  expect(await revivals()).toMatchObject({ lastDeathAt: '2026-01-02T03:00:15.000Z' });
  world.fold(ownLine('orchestrator.worker.retried', 'ABC-1', { by: 'kim' }));
  expect(await revivals()).toBeUndefined();
  world.pass(5);
  world.launched('ABC-1', 4, 104);
  expect(await revivals()).toMatchObject({ count: 0, lastDeathAt: null, lastEnd: 'died' });
});

test('a hung agent is remembered after a restart', async () => {
  const world = runWorld();
  world.begin([['ABC-1', 'ABC-2']]);
  for (const ticket of ['ABC-1', 'ABC-2']) world.launched(ticket, 1, null, { lives: false });
  await markEnd(world.runsDir, { orchestrator: RUN, ticket: 'ABC-1', attempt: 1 }, 'hanging');
  await markEnd(world.runsDir, { orchestrator: RUN, ticket: 'ABC-1', attempt: 1 }, 'hanging');
  expect([...(await endMarks(world.runsDir, RUN))]).toEqual([['ABC-1.1', 'hanging']]);
  expect([...(await endMarks(world.runsDir, 'run-9'))]).toEqual([]);
  world.pass(3600);
  const { revivals } = (await lookAt(world)).world;
  expect(['ABC-1', 'ABC-2'].map((ticket) => revivals.get(`${RUN}/${ticket}`)?.lastEnd)).toEqual([
    'hanging',
    'died',
  ]);
});

test('an interrupted verification is started again', async () => {
  const world = runWorld();
  world.begin([['ABC-1']]);
  world.report(world.signal('ABC-1', { status: 'pr-created' }));
  const state = async () => (await lookAt(world)).world.verifications.get(`${RUN}/ABC-1`);
  expect(await state()).toBeUndefined();
  world.memory.verifying.add(`${RUN}/ABC-1`);
  expect(await state()).toEqual({ state: 'running', remediation: 'none' });
  world.fold(ownLine('orchestrator.verification.started', 'ABC-1', {}));
  expect(await state()).toMatchObject({ state: 'running' });
  world.memory.verifying.clear();
  expect(await state()).toBeUndefined();
  world.fold(ownLine('orchestrator.verification.failed', 'ABC-1', { summary: 'a test was switched off' }));
  expect(await state()).toEqual({ state: 'failed', remediation: 'filing' });
  world.fold(
    ownLine('orchestrator.verification.remediation_filed', 'ABC-1', {
      destination: 'tracker',
      filedAs: 'ABC-9',
    }),
  );
  expect(await state()).toEqual({ state: 'failed', remediation: 'filed' });
});

test('a finished run counts while it has agents or active workers; one without a plan never', async () => {
  const world = runWorld();
  world.begin([['ABC-1']]);
  world.launched('ABC-1', 1, 101);
  world.fold(ownLine('orchestrator.run.canceled', undefined, {}));
  world.fold({ ...ownLine('orchestrator.run.started', undefined, {}), scope: { orchestrator: 'foreign' } });
  const seen = await lookAt(world);
  expect(seen.world.runs.map(({ run }) => run.orchestrator)).toEqual([RUN]);
  expect(nextActs(seen.world)).toEqual([
    { kind: 'end', orchestrator: RUN, ticket: 'ABC-1', why: 'run-over' },
  ]);
  world.processes.clear();
  expect((await lookAt(world)).world.runs).toEqual([]);
  // Its process is gone, and its project can no longer be read.
  world.report(world.signal('ABC-1'));
  world.projects.of = () => Promise.reject(new Error('the folder is gone'));
  const after = await lookAt(world);
  expect(after.unreadable).toEqual([]);
  expect(nextActs(after.world)).toEqual([
    { kind: 'end', orchestrator: RUN, ticket: 'ABC-1', why: 'run-over' },
  ]);
  world.report(world.signal('ABC-1', { status: 'canceled' }));
  expect((await lookAt(world)).world.runs).toEqual([]);
});

test('a project that cannot be read is reported, and its agents keep their slots', async () => {
  const world = runWorld();
  world.begin([['ABC-1', 'ABC-2']]);
  world.launched('ABC-1', 1, 101);
  world.projects.of = () => Promise.reject(new Error('svc.projectKey: expected text'));
  const seen = await lookAt(world);
  expect(seen.unreadable).toEqual([{ orchestrator: RUN, problem: 'svc.projectKey: expected text' }]);
  expect(nextActs(seen.world)).toEqual([]);
});
