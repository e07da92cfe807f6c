// The loop itself, with agents that are only recorded.
import { until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { ownLine, RUN, type RunWorld, runWorld } from '../testing/run-world.ts';
import { createOrchestrator } from './orchestrator.ts';
import type { StartRequest } from './start-agent.ts';

function startOrchestrator(
  world: RunWorld,
  onStart: (request: StartRequest) => Promise<void> = async () => undefined,
) {
  const requests: StartRequest[] = [];
  const listeners = new Set<() => void>();
  const orchestrator = createOrchestrator({
    ...world,
    state: {
      board: () => world.board,
      ready: Promise.resolve(),
      reached: async () => undefined,
      onChange(listener) {
        const call = (): void => listener({ board: world.board, lines: [] });
        listeners.add(call);
        return () => listeners.delete(call);
      },
    },
    async append(draft: EventDraft) {
      await world.append(draft);
      return { seq: world.board.seq };
    },
    async startAgent(request) {
      requests.push(request);
      await onStart(request);
      return 'already-started';
    },
    timings: {
      revivalDelaysSec: [1, 1],
      settleSec: 1,
      claimSec: 60,
      afterEndSec: 10,
      agentAnswerSec: 30,
      journalBytes: 1_000_000,
    },
    everyMs: 20,
  });
  onTestFinished(() => orchestrator.stop());
  orchestrator.start();
  return { orchestrator, requests };
}

test('as many agents as there are slots, and one more when one has ended', async () => {
  const world = runWorld();
  world.begin([['ABC-1', 'ABC-2', 'ABC-3', 'ABC-4', 'ABC-5']]);
  const pidOf = (ticket: string): number => 4_000_000 + Number(ticket.split('-')[1]);
  const { orchestrator, requests } = startOrchestrator(world, async ({ ticket, attempt }) => {
    world.launched(ticket, attempt, pidOf(ticket));
    world.report(world.signal(ticket));
  });
  await until(() => orchestrator.running() === 3);
  await orchestrator.checkNow();
  await orchestrator.checkNow();
  // They are started at once: the order of disk reads does not matter.
  expect(requests.map(({ ticket }) => ticket).toSorted()).toEqual(['ABC-1', 'ABC-2', 'ABC-3']);
  expect(orchestrator.holds(RUN)).toMatchObject([{ why: 'slots', ticket: null }]);
  expect(orchestrator.holds('other')).toEqual([]);
  world.report(world.signal('ABC-1', { status: 'pr-created' }));
  world.processes.delete(pidOf('ABC-1'));
  await until(() => requests.length === 4);
  expect(requests[3]?.ticket).toBe('ABC-4');
  expect(orchestrator.problem()).toBeNull();
});

test('whether a worker is started again', async () => {
  const world = runWorld();
  world.begin([['ABC-1', 'ABC-2']]);
  world.begin([['ABC-1', 'ABC-2']]);
  for (const ticket of ['ABC-1', 'ABC-2']) world.report(world.signal(ticket));
  for (const attempt of [1, 2, 3]) world.launched('ABC-1', attempt, 4_000_000 + attempt, { lives: false });
  world.launched('ABC-2', 1, 4_000_009, { lives: false });
  const { orchestrator } = startOrchestrator(world);
  await until(() => orchestrator.holds(RUN).length > 0);
  const willRevive = (ticket: string, of = RUN) => orchestrator.willRevive({ orchestrator: of, ticket });
  expect([willRevive('ABC-1'), willRevive('ABC-2'), willRevive('ABC-1', 'foreign')]).toEqual([
    false,
    true,
    false,
  ]);
  world.pass(5);
  world.fold(ownLine('orchestrator.worker.retried', 'ABC-1', { by: 'kim' }));
  await orchestrator.checkNow();
  expect(willRevive('ABC-1')).toBe(true);
  world.fold(ownLine('orchestrator.run.canceled', undefined, {}));
  expect(willRevive('ABC-2')).toBe(false);
});

test('a project that cannot be read is a problem, until it can', async () => {
  const world = runWorld();
  world.begin([['ABC-1']]);
  const { of } = world.projects;
  world.projects.of = () => Promise.reject(new Error('svc.projectKey: expected text'));
  const { orchestrator, requests } = startOrchestrator(world);
  await until(() => orchestrator.problem());
  expect(orchestrator.problem()).toBe('svc.projectKey: expected text');
  expect(requests).toEqual([]);
  world.projects.of = of;
  await until(() => requests.length > 0);
  expect(orchestrator.problem()).toBeNull();
});

test('stopping waits for what is running, and starts nothing more', async () => {
  const world = runWorld();
  world.begin([['ABC-1']]);
  const free = Promise.withResolvers<void>();
  const { orchestrator, requests } = startOrchestrator(world, () => free.promise);
  await until(() => requests.length > 0);
  const stopping = orchestrator.stop();
  const first = Promise.race([stopping.then(() => 'stopped'), free.promise.then(() => 'free')]);
  await orchestrator.checkNow();
  free.resolve();
  expect(await first).toBe('free');
  await stopping;
  expect(requests).toHaveLength(1);
});
