import { utimesSync, writeFileSync } from 'node:fs';
import { until } from '@svc/testkit';
import { describe, expect, test, vi } from 'vitest';
import { endMarks } from '../../agents/io/find-agents.ts';
import { agentFiles } from '../../agents/io/launch.ts';
import type { Act } from '../acts.ts';
import { cleanUpAfterRestart, createCleanUp } from '../clean-up.ts';
import { ownLine, RUN, type RunWorld, runWorld } from '../testing/run-world.ts';
import { createExecutor } from './execute-act.ts';
import { createObserver } from './observe.ts';
import type { StartAgent, StartRequest } from './start-agent.ts';

const orchestrator = RUN;
const dispatch: Act = { kind: 'dispatch', orchestrator, ticket: 'ABC-1', wave: 1 };
const revive: Act = { ...dispatch, kind: 'revive', attempt: 1, notBefore: '' };

function hands(world: RunWorld, start?: StartAgent) {
  const requests: StartRequest[] = [];
  const stopping = new AbortController();
  const wake = vi.fn<() => void>();
  const execute = createExecutor({
    ...world,
    startAgent:
      start ??
      (async (request) => {
        requests.push(request);
        return 'already-started';
      }),
    cleanUp: createCleanUp({ ...world, stopping: stopping.signal }),
    wake,
    stopping: stopping.signal,
  });
  const act = async (given: Act): Promise<void> => {
    await execute(given, await createObserver(world)(world.board, world.memory));
  };
  const settled = async (): Promise<void> => {
    while (world.memory.jobs.size > 0) await Promise.all(world.memory.jobs);
  };
  return { act, settled, requests, wake, stopping };
}

describe('starting', () => {
  test('takes its slot immediately, with the next attempt, and gives it back', async () => {
    const world = runWorld();
    world.begin([['ABC-1']]);
    world.launched('ABC-1', 2, 102, { lives: false });
    const free = Promise.withResolvers<void>();
    const requests: StartRequest[] = [];
    const { act, settled, wake } = hands(world, async (request) => {
      requests.push(request);
      await free.promise;
      return 'already-started';
    });
    await act(revive);
    expect([...world.memory.starting.keys()]).toEqual([`${RUN}/ABC-1`]);
    await act(revive);
    free.resolve();
    await settled();
    expect(requests.map(({ ticket, attempt, wave }) => [ticket, attempt, wave])).toEqual([['ABC-1', 3, 1]]);
    expect(world.memory.starting.size).toBe(0);
    expect(wake).toHaveBeenCalledTimes(1);
  });

  test('a failed start is reported in its file and to a person; it is not retried on its own', async () => {
    const world = runWorld();
    world.begin([['ABC-1']]);
    const start = vi.fn<StartAgent>(() => Promise.reject(new Error('the disk is full')));
    const { act, settled } = hands(world, start);
    await act(dispatch);
    await settled();
    const read = await world.signals.read(RUN, 'ABC-1');
    expect(read).toMatchObject({
      state: 'ok',
      signal: { status: 'failed', error: 'the disk is full', wave: 1 },
    });
    expect(world.appended).toMatchObject([
      {
        event: 'comms.attention',
        detail: { reason: 'dispatch-failed', remedy: `svc orchestrate retry ${RUN} ABC-1` },
      },
    ]);
    // The board does not know the file yet.
    await act(dispatch);
    await settled();
    expect(start).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['revive', revive, 'pr-created', 0],
    ['revive', revive, 'canceled', 0],
    ['revive', revive, 'implementing', 1],
    ['dispatch', dispatch, 'canceled', 0],
    ['dispatch', dispatch, 'dispatched', 1],
    ['recall', { ...dispatch, kind: 'recall' }, 'pr-created', 1],
    ['recall', { ...dispatch, kind: 'recall' }, 'done', 0],
  ] as [string, Act, 'done', number][])('%s: the file decides', async (_kind, given, status, starts) => {
    const world = runWorld();
    world.begin([['ABC-1']]);
    await world.signals.create(world.signal('ABC-1', { status }));
    const { act, settled, requests } = hands(world);
    await act(given);
    await settled();
    expect(requests).toHaveLength(starts);
  });

  test('a daemon that stops reports no failure', async () => {
    const world = runWorld();
    world.begin([['ABC-1']]);
    const { act, settled, stopping } = hands(world, () => {
      stopping.abort();
      return Promise.reject(new Error('stopped'));
    });
    await act(dispatch);
    await settled();
    expect(world.appended).toEqual([]);
    expect(await world.signals.read(RUN, 'ABC-1')).toEqual({ state: 'missing' });
  });
});

describe('giving up', () => {
  const fail: Act = {
    kind: 'fail',
    orchestrator,
    ticket: 'ABC-1',
    status: 'failed',
    reason: 'worker-dead',
    message: 'The agent ended',
  };
  const open = ({ board }: RunWorld) => [...board.workers.values()].flatMap(({ raised }) => raised);

  async function deadWorker(death: object | null) {
    const world = runWorld();
    world.begin([['ABC-1']]);
    const signal = world.signal('ABC-1', { pid: 101 });
    await world.signals.create(signal);
    world.report(signal);
    if (death !== null) world.fold(ownLine('orchestrator.worker.died', 'ABC-1', { pid: 101, ...death }));
    return world;
  }

  test.each([
    ['not seen', null, 1],
    ['logged with a revival', { willRevive: true }, 1],
    ['logged already', {}, 0],
  ])('a person is notified, though its death was %s', async (_name, death, lines) => {
    const world = await deadWorker(death);
    const { act } = hands(world);
    await act(fail);
    expect(world.appended.map(({ event }) => event)).toEqual(
      Array.from({ length: lines }, () => 'orchestrator.worker.died'),
    );
    const read = await world.signals.read(RUN, 'ABC-1');
    expect(read).toMatchObject({ signal: { status: 'failed', error: 'The agent ended' } });
    world.report(world.signal('ABC-1', { pid: 101, status: 'failed' }));
    expect(open(world)).toEqual(['worker-dead']);
    // Until a person retries it.
    world.fold(ownLine('orchestrator.worker.retried', 'ABC-1', { by: 'kim' }));
    expect(open(world)).toEqual([]);
  });

  test("with the end of the last process's standard error", async () => {
    const world = await deadWorker(null);
    world.launched('ABC-1', 1, 101, { lives: false });
    const { errors } = agentFiles(world.runsDir, { orchestrator, ticket: 'ABC-1', attempt: 1 });
    const written = (seconds: number): void => {
      writeFileSync(errors, 'boom\n');
      utimesSync(errors, world.clock.now / 1000 + seconds, world.clock.now / 1000 + seconds);
    };
    written(1);
    await hands(world).act(fail);
    expect(world.appended).toMatchObject([{ detail: { reason: 'The agent ended', stderr: 'boom' } }]);
    expect(await world.signals.read(RUN, 'ABC-1')).toMatchObject({
      signal: { error: 'The agent ended: boom' },
    });
    // Output of an earlier attempt does not count.
    written(-60);
    await world.signals.update(RUN, 'ABC-1', (signal) => ({ ...signal, status: 'implementing' }));
    await hands(world).act(fail);
    expect(await world.signals.read(RUN, 'ABC-1')).toMatchObject({ signal: { error: 'The agent ended' } });
  });

  test('a worker that has moved on is not changed', async () => {
    const world = await deadWorker({});
    await world.signals.update(RUN, 'ABC-1', (signal) => ({ ...signal, status: 'done' }));
    await hands(world).act(fail);
    expect(await world.signals.read(RUN, 'ABC-1')).toMatchObject({ signal: { status: 'done' } });
  });
});

test.each([
  [127, 0, ['unstartable']],
  [126, 0, ['unstartable']],
  [1, 0, []],
  [127, 60, []],
])('an agent that ends with %i after %i s is marked: %j', async (exitCode, seconds, marks) => {
  const world = runWorld();
  world.begin([['ABC-1']]);
  const end = Promise.withResolvers<{ known: true; exitCode: number; signal: null }>();
  const { act, settled, wake } = hands(world, async () => ({ pid: 1, startedAt: null, ended: end.promise }));
  await act(dispatch);
  await settled();
  world.pass(seconds);
  end.resolve({ known: true, exitCode, signal: null });
  // Once when it was started, once when its end was recorded.
  await until(() => wake.mock.calls.length === 2);
  expect([...(await endMarks(world.runsDir, RUN)).values()]).toEqual(marks);
});

test('a start that fails after its ticket was canceled needs no person', async () => {
  const world = runWorld();
  world.begin([['ABC-1']]);
  const { act, settled } = hands(world, async () => {
    await world.signals.create(world.signal('ABC-1', { status: 'canceled' }));
    throw new Error('no disk');
  });
  await act(dispatch);
  await settled();
  expect(await world.signals.read(RUN, 'ABC-1')).toMatchObject({ signal: { status: 'canceled' } });
  expect(world.appended).toEqual([]);
});

test('an agent that hangs is marked before it is ended', async () => {
  const world = runWorld();
  world.begin([['ABC-1']]);
  world.launched('ABC-1', 1, 4_000_001);
  let marked: string[] = [];
  const { processStarts } = world;
  world.processStarts = async (pids) => {
    marked = [...(await endMarks(world.runsDir, RUN)).keys()];
    return processStarts(pids);
  };
  await hands(world).act({ kind: 'end-hanging', orchestrator, ticket: 'ABC-1' });
  expect(marked).toEqual(['ABC-1.1']);
});

test('the end of a run cancels its workers, unless they are merged', async () => {
  const world = runWorld();
  world.begin([['ABC-1', 'ABC-2']]);
  await world.signals.create(world.signal('ABC-1'));
  await world.signals.create(world.signal('ABC-2', { status: 'merged' }));
  const { act } = hands(world);
  for (const ticket of ['ABC-1', 'ABC-2']) await act({ kind: 'end', orchestrator, ticket, why: 'run-over' });
  const statuses = await Promise.all(['ABC-1', 'ABC-2'].map((ticket) => world.signals.read(RUN, ticket)));
  expect(statuses).toMatchObject([{ signal: { status: 'canceled' } }, { signal: { status: 'merged' } }]);
});

test('a verification that could not be made is tried again after a while', async () => {
  const world = runWorld();
  world.begin([['ABC-1']]);
  const { act, settled } = hands(world);
  const verify: Act = { kind: 'start-verification', orchestrator, ticket: 'ABC-1', mergeSha: 'a'.repeat(40) };
  await act(verify);
  await act(verify);
  await settled();
  await act(verify);
  await settled();
  expect(world.verified).toEqual(['ABC-1']);
  world.pass(61);
  await act(verify);
  await settled();
  expect(world.verified).toEqual(['ABC-1', 'ABC-1']);
});

describe('waves', () => {
  const tree = (name: string, at = '2026-01-02T02:00:00.000Z') =>
    ({
      name,
      path: `/wt/${name}`,
      branch: name,
      head: null,
      state: 'ready',
      locked: false,
      made: { base: 'main', at, madeBranch: true },
    }) as const;

  test('starts, blocks and ends in the log; worktrees are removed, except those in use by an agent', async () => {
    const world = runWorld();
    world.begin([['ABC-1', 'ABC-2']]);
    world.worktrees.push(tree('ABC-1'), tree('ABC-2'), tree('mine'));
    world.launched('ABC-2', 1, 102);
    const { act, settled } = hands(world);
    const wave = { orchestrator, wave: 1, tickets: ['ABC-1', 'ABC-2'] };
    await act({ kind: 'start-wave', ...wave });
    await act({ kind: 'block-wave', ...wave, why: 'ABC-1: failed' });
    expect(world.board.runs.get(RUN)?.waves).toMatchObject([{ wave: 1, state: 'blocked' }]);
    await act({ kind: 'complete-wave', ...wave });
    await settled();
    expect(world.removed).toEqual(['ABC-1']);
    world.processes.clear();
    await act({ kind: 'complete-run', orchestrator });
    await settled();
    expect(world.removed).toEqual(['ABC-1', 'ABC-2']);
    expect(world.board.runs.get(RUN)?.state).toBe('completed');
  });

  test('a ticket that is started again waits until its old worktree is removed, and its new one is kept', async () => {
    const world = runWorld();
    world.begin([['ABC-1', 'ABC-2']]);
    world.worktrees.push(tree('ABC-1'));
    const free = Promise.withResolvers<void>();
    const removedAtStart: string[][] = [];
    const requests: string[] = [];
    const { act, settled } = hands(world, async ({ ticket }) => {
      requests.push(ticket);
      if (ticket === 'ABC-2') return 'already-started';
      removedAtStart.push([...world.removed]);
      await free.promise;
      return 'already-started';
    });
    const removal = Promise.withResolvers<void>();
    world.held.removal = removal.promise;
    await act({ kind: 'complete-wave', orchestrator, wave: 1, tickets: ['ABC-1'] });
    await act(dispatch);
    // A ticket whose worktree stays is started meanwhile.
    await act({ ...dispatch, ticket: 'ABC-2' });
    await until(() => requests.includes('ABC-2'));
    removal.resolve();
    await until(() => removedAtStart.length === 1);
    world.removed.length = 0;
    await act({ kind: 'complete-run', orchestrator });
    free.resolve();
    await settled();
    expect(removedAtStart).toEqual([['ABC-1']]);
    expect(world.removed).toEqual([]);
  });

  test('what a killed daemon did not remove is removed after the restart, and nothing else', async () => {
    const world = runWorld();
    world.begin([['ABC-1', 'ABC-2', 'ABC-3'], ['ABC-4']]);
    world.fold(ownLine('orchestrator.wave.completed', undefined, { wave: 1, tickets: [] }));
    for (const ticket of ['ABC-1', 'ABC-2', 'ABC-4'])
      world.report(world.signal(ticket, { worktreePath: `/wt/${ticket}` }));
    // Created by a person when the run was over; and one that no worker ever had.
    world.worktrees.push(
      tree('ABC-1'),
      tree('ABC-2', '2026-01-02T09:00:00.000Z'),
      tree('ABC-3'),
      tree('ABC-4'),
    );
    const { signal: stopping } = new AbortController();
    await cleanUpAfterRestart(world.board, createCleanUp({ ...world, stopping }));
    expect(world.removed).toEqual(['ABC-1']);
  });
});
