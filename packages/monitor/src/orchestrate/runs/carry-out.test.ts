import { utimesSync, writeFileSync } from 'node:fs';
import type { Act } from '@svc/core';
import { until } from '@svc/testkit';
import { describe, expect, test, vi } from 'vitest';
import { endMarks } from '../agents/find-agents.ts';
import { agentFiles } from '../agents/launch.ts';
import { createCarryOut } from './carry-out.ts';
import { cleanUpAfterRestart, createCleanUp } from './clean-up.ts';
import { createObserver } from './observe.ts';
import type { StartAgent, StartWish } from './start-agent.ts';
import { ownLine, RUN, type RunWorld, runWorld } from './testing/run-world.ts';

const orchestrator = RUN;
const dispatch: Act = { kind: 'dispatch', orchestrator, ticket: 'ABC-1', wave: 1 };
const revive: Act = { ...dispatch, kind: 'revive', attempt: 1, notBefore: '' };

function hands(world: RunWorld, start?: StartAgent) {
  const wishes: StartWish[] = [];
  const stopping = new AbortController();
  const wake = vi.fn<() => void>();
  const carryOut = createCarryOut({
    ...world,
    startAgent:
      start ??
      (async (wish) => {
        wishes.push(wish);
        return 'already-started';
      }),
    cleanUp: createCleanUp({ ...world, stopping: stopping.signal }),
    wake,
    stopping: stopping.signal,
  });
  const act = async (given: Act): Promise<void> => {
    await carryOut(given, await createObserver(world)(world.board, world.memory));
  };
  const settled = async (): Promise<void> => {
    while (world.memory.jobs.size > 0) await Promise.all(world.memory.jobs);
  };
  return { act, settled, wishes, wake, stopping };
}

describe('starting', () => {
  test('takes its slot at once, with the next attempt, and gives it back', async () => {
    const world = runWorld();
    world.begin([['ABC-1']]);
    world.launched('ABC-1', 2, 102, { lives: false });
    const free = Promise.withResolvers<void>();
    const wishes: StartWish[] = [];
    const { act, settled, wake } = hands(world, async (wish) => {
      wishes.push(wish);
      await free.promise;
      return 'already-started';
    });
    await act(revive);
    expect([...world.memory.starting.keys()]).toEqual([`${RUN}/ABC-1`]);
    await act(revive);
    free.resolve();
    await settled();
    expect(wishes.map(({ ticket, attempt, wave }) => [ticket, attempt, wave])).toEqual([['ABC-1', 3, 1]]);
    expect(world.memory.starting.size).toBe(0);
    expect(wake).toHaveBeenCalledTimes(1);
  });

  test('what cannot be started says why in its file and to a person; it is not tried again by itself', async () => {
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
    expect(world.said).toMatchObject([
      {
        event: 'comms.attention',
        detail: { reason: 'dispatch-failed', remedy: `svc orchestrate retry ${RUN} ABC-1` },
      },
    ]);
    // The board does not know of the file yet.
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
  ] as [string, Act, 'done', number][])(
    '%s: the file has the last word',
    async (_kind, given, status, starts) => {
      const world = runWorld();
      world.begin([['ABC-1']]);
      await world.signals.create(world.signal('ABC-1', { status }));
      const { act, settled, wishes } = hands(world);
      await act(given);
      await settled();
      expect(wishes).toHaveLength(starts);
    },
  );

  test('a daemon that stops blames nobody', async () => {
    const world = runWorld();
    world.begin([['ABC-1']]);
    const { act, settled, stopping } = hands(world, () => {
      stopping.abort();
      return Promise.reject(new Error('stopped'));
    });
    await act(dispatch);
    await settled();
    expect(world.said).toEqual([]);
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

  async function deadWorker(life: object | null) {
    const world = runWorld();
    world.begin([['ABC-1']]);
    const signal = world.signal('ABC-1', { pid: 101 });
    await world.signals.create(signal);
    world.tell(signal);
    if (life !== null) world.fold(ownLine('orchestrator.worker.died', 'ABC-1', { pid: 101, ...life }));
    return world;
  }

  test.each([
    ['never seen', null, 1],
    ['last told to be revived', { willRevive: true }, 1],
    ['told already', {}, 0],
  ])('a person is told, though its death was %s', async (_name, life, lines) => {
    const world = await deadWorker(life);
    const { act } = hands(world);
    await act(fail);
    expect(world.said.map(({ event }) => event)).toEqual(
      Array.from({ length: lines }, () => 'orchestrator.worker.died'),
    );
    const read = await world.signals.read(RUN, 'ABC-1');
    expect(read).toMatchObject({ signal: { status: 'failed', error: 'The agent ended' } });
    world.tell(world.signal('ABC-1', { pid: 101, status: 'failed' }));
    expect(open(world)).toEqual(['worker-dead']);
    // Until a person says retry.
    world.fold(ownLine('orchestrator.worker.retried', 'ABC-1', { by: 'kim' }));
    expect(open(world)).toEqual([]);
  });

  test('with the end of what its last process wrote on its standard error', async () => {
    const world = await deadWorker(null);
    world.launched('ABC-1', 1, 101, { lives: false });
    const { errors } = agentFiles(world.runsDir, { orchestrator, ticket: 'ABC-1', attempt: 1 });
    const written = (seconds: number): void => {
      writeFileSync(errors, 'boom\n');
      utimesSync(errors, world.clock.now / 1000 + seconds, world.clock.now / 1000 + seconds);
    };
    written(1);
    await hands(world).act(fail);
    expect(world.said).toMatchObject([{ detail: { reason: 'The agent ended', stderr: 'boom' } }]);
    expect(await world.signals.read(RUN, 'ABC-1')).toMatchObject({
      signal: { error: 'The agent ended: boom' },
    });
    // What an attempt before it wrote is not its.
    written(-60);
    await world.signals.update(RUN, 'ABC-1', (signal) => ({ ...signal, status: 'implementing' }));
    await hands(world).act(fail);
    expect(await world.signals.read(RUN, 'ABC-1')).toMatchObject({ signal: { error: 'The agent ended' } });
  });

  test('a worker that has come further is left as it is', async () => {
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
  // Once when it was started, once when its end was noted.
  await until(() => wake.mock.calls.length === 2);
  expect([...(await endMarks(world.runsDir, RUN)).values()]).toEqual(marks);
});

test('a start that fails after its ticket was canceled needs nobody', async () => {
  const world = runWorld();
  world.begin([['ABC-1']]);
  const { act, settled } = hands(world, async () => {
    await world.signals.create(world.signal('ABC-1', { status: 'canceled' }));
    throw new Error('no disk');
  });
  await act(dispatch);
  await settled();
  expect(await world.signals.read(RUN, 'ABC-1')).toMatchObject({ signal: { status: 'canceled' } });
  expect(world.said).toEqual([]);
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
  await hands(world).act({ kind: 'end-hanging', orchestrator, ticket: 'ABC-1', silentSince: '' });
  expect(marked).toEqual(['ABC-1.1']);
});

test('the end of a run writes its workers off, as far as they are not merged', async () => {
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

  test('begin, block and end in the log; worktrees go, but not from under an agent', async () => {
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

  test('a ticket that is started again waits until its old worktree is removed, and is not removed then', async () => {
    const world = runWorld();
    world.begin([['ABC-1', 'ABC-2']]);
    world.worktrees.push(tree('ABC-1'));
    const free = Promise.withResolvers<void>();
    const removedAtStart: string[][] = [];
    const wishes: string[] = [];
    const { act, settled } = hands(world, async ({ ticket }) => {
      wishes.push(ticket);
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
    await until(() => wishes.includes('ABC-2'));
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
      world.tell(world.signal(ticket, { worktreePath: `/wt/${ticket}` }));
    // Made by a person when the run was over; and one that no worker ever had.
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
