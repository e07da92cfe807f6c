import { join } from 'node:path';
import { createManualClock, createRandom, temporaryFolder } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Handlers, Outcome } from './attempt.ts';
import type { OutboxRow, OutboxStore } from './outbox-store.ts';

import { createOutboxRunner, type OutboxRunnerOptions, type Settled } from './runner.ts';

import { append, move, openStore } from './testing/sample-outbox.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

type Started = { key: string; answer: (outcome: Outcome) => void; signal: AbortSignal };

function setUp(options: Partial<OutboxRunnerOptions> & { path?: string } = {}) {
  const clock = createManualClock();
  const store = openStore(options.path ?? join(temporaryFolder(), 'svc.db'), { lastSeq: 0, clock });
  const started: Started[] = [];
  const reported: [key: string, error: string][] = [];
  const settled: [key: string, settled: Settled][] = [];
  const failing: (string | null)[] = [];
  const wait = ({ key }: { key: string }, { signal }: { signal: AbortSignal }): Promise<Outcome> =>
    new Promise((resolve) => started.push({ key, answer: resolve, signal }));
  const runner = createOutboxRunner({
    store,
    clock,
    random: () => 1,
    handlers: { append: wait, 'move-ticket': wait },
    onGaveUp: async ({ key }, error) => void reported.push([key, error]),
    onSettled: ({ key }, how) => settled.push([key, how]),
    onFailing: (reason) => failing.push(reason),
    ...options,
  });
  onTestFinished(async () => {
    const stopping = runner.stop();
    await clock.advance(10 * SECOND);
    await stopping;
    store.close();
  });
  return { clock, store, runner, started, reported, settled, failing };
}

const answering = (outcome: Outcome) => () => Promise.resolve(outcome);

describe('order', () => {
  test('at most four at once in a lane, and one at a time per ticket', async () => {
    const { clock, store, runner, started } = setUp();
    const others = ['B', 'C', 'D', 'E'].map((ticket, index) => move(index + 3, ticket));
    store.accept([move(1, 'A'), move(2, 'A'), ...others], 6);
    runner.start();
    await clock.settle();
    const keys = () => started.map(({ key }) => key);
    expect(keys()).toEqual([move(1, 'A'), ...others.slice(0, 3)].map(({ key }) => key));
    started[1]?.answer({ done: 'moved' });
    await clock.settle();
    expect(keys()[4]).toBe(move(6, 'E').key);
    started[0]?.answer({ done: 'moved' });
    await clock.settle();
    expect(keys()[5]).toBe(move(2, 'A').key);
    expect(runner.figures()).toMatchObject({ pending: 4, running: 4 });
  });

  test('lines of the log do not wait behind a service that does not answer, nor behind its retries', async () => {
    const { clock, store, runner, started } = setUp();
    const moves = Array.from({ length: 40 }, (_, index) => move(index + 1, `T-${index}`));
    store.accept(moves, 40);
    runner.start();
    await clock.settle();
    expect(started).toHaveLength(4);
    store.accept([append(41), append(42)], 42);
    runner.wake();
    await clock.settle();
    expect(started.slice(4).map(({ key }) => key)).toEqual([append(41).key, append(42).key]);
    for (const { answer } of started) answer({ failed: 'busy' });
    await clock.settle();
    store.accept([append(43)], 43);
    runner.wake();
    await clock.settle();
    expect(started.map(({ key }) => key)).toContain(append(43).key);
    expect(runner.figures().running).toBe(5);
  });

  test('an effect that is retried delays those after it', async () => {
    const { clock, store, runner, started } = setUp();
    store.accept([move(1, 'A'), move(2, 'A')], 2);
    runner.start();
    await clock.settle();
    started[0]?.answer({ failed: 'busy' });
    await clock.advance(999);
    expect(started).toHaveLength(1);
    await clock.advance(1);
    expect(started.map(({ key }) => key)).toEqual([move(1, 'A').key, move(1, 'A').key]);
    started[1]?.answer({ done: 'moved' });
    await clock.settle();
    expect(started[2]?.key).toBe(move(2, 'A').key);
  });

  test('a handler that exceeds its time delays those after it, but not forever', async () => {
    const { clock, store, runner, started } = setUp();
    store.accept([move(1, 'A'), move(2, 'A'), append(3)], 3);
    runner.start();
    await clock.advance(30 * SECOND);
    expect(started[0]?.signal.aborted).toBe(true);
    expect(store.find(move(1, 'A').key)).toMatchObject({ attempts: 1, lastError: 'no answer within 30 s' });
    await clock.advance(2 * MINUTE);
    expect(started.filter(({ key }) => key.endsWith('A'))).toHaveLength(1);
    await clock.advance(3 * MINUTE);
    expect(started.filter(({ key }) => key.endsWith('A'))).toHaveLength(2);
    // The first attempt's late result changes nothing any more.
    started[0]?.answer({ done: 'late' });
    await clock.settle();
    expect(store.find(move(1, 'A').key)?.state).toBe('pending');
  });
});

describe('failures', () => {
  test('are retried after a wait that doubles, or that the service asked for', async () => {
    const times: number[] = [];
    const answers: Outcome[] = [{ failed: 'a' }, { failed: 'b' }, { failed: 'c', retryAfterMs: MINUTE }];
    const { clock, store, runner, settled } = setUp({
      handlers: {
        'move-ticket': async () => {
          times.push(clock.now());
          return answers[times.length - 1] ?? { done: 'moved' };
        },
      },
    });
    const startedAt = clock.now();
    store.accept([move(1)], 1);
    runner.start();
    await clock.advance(2 * SECOND);
    expect(runner.figures()).toMatchObject({
      started: 'fresh',
      retryingCount: 1,
      oldestPendingMs: 2 * SECOND,
      retrying: [
        { key: move(1).key, kind: 'move-ticket', attempts: 2, error: 'b', nextAt: startedAt + 3 * SECOND },
      ],
    });
    await clock.advance(2 * MINUTE);
    expect(times.map((time) => time - startedAt)).toEqual([0, SECOND, 3 * SECOND, 63 * SECOND]);
    expect(settled).toEqual([[move(1).key, { state: 'done', outcome: 'moved' }]]);
    expect(runner.figures()).toMatchObject({ pending: 0, retryingCount: 0, oldestPendingMs: null });
  });

  test.each<[string, Partial<OutboxRunnerOptions>, string]>([
    ['permanent', { handlers: { 'move-ticket': answering({ failed: 'gone', permanent: true }) } }, 'gone'],
    ['of a kind without a handler', { handlers: {} }, 'there is no handler for "move-ticket"'],
  ])('that are %s are given up immediately, and reported', async (_name, options, error) => {
    const { clock, store, runner, reported, settled } = setUp(options);
    store.accept([move(1), move(2)], 2);
    runner.start();
    await clock.settle();
    expect(reported).toEqual([
      [move(1).key, error],
      [move(2).key, error],
    ]);
    expect(settled).toHaveLength(2);
    expect(store.counts()).toMatchObject({ pending: 0, givenUp: 2, unsent: 0 });
  });

  test('are given up after a day, not after many attempts in an hour', async () => {
    let attempts = 0;
    const { clock, store, runner, reported } = setUp({
      handlers: {
        'move-ticket': () => {
          attempts += 1;
          throw new Error('out of order');
        },
      },
    });
    store.accept([move(1)], 1);
    runner.start();
    await clock.advance(2 * HOUR);
    expect(attempts).toBeGreaterThan(20);
    expect(reported).toEqual([]);
    await clock.advance(22 * HOUR + 5 * MINUTE);
    expect(reported).toEqual([[move(1).key, 'out of order']]);
  });

  test('a machine that slept for days still gets its attempts', async () => {
    const { clock, store, runner, reported } = setUp({
      handlers: { 'move-ticket': answering({ failed: 'offline' }) },
    });
    store.accept([move(1)], 1);
    runner.start();
    await clock.settle();
    clock.sleep(100 * HOUR);
    await clock.advance(10 * SECOND);
    expect([reported, store.find(move(1).key)?.state]).toEqual([[], 'pending']);
    await clock.advance(HOUR);
    expect(reported).toHaveLength(1);
  });
});

describe('reporting what was given up', () => {
  test('is retried until it succeeds', async () => {
    let calls = 0;
    const { clock, store, runner, failing } = setUp({
      handlers: {},
      onGaveUp: async () => {
        calls += 1;
        if (calls < 3) throw new Error('the log is full');
      },
    });
    store.accept([move(1)], 1);
    runner.start();
    await clock.advance(2 * SECOND);
    expect([calls, store.counts().unsent]).toEqual([2, 1]);
    expect(runner.figures().failing).toContain('the log is full');
    await clock.advance(2 * SECOND);
    expect([calls, store.counts().unsent, failing.at(-1)]).toEqual([3, 0, null]);
  });

  test('happens at the next start, if a kill came between', async () => {
    const { clock, store, runner, reported } = setUp();
    store.accept([move(1)], 1);
    store.giveUp(move(1).key, 'gone');
    runner.start();
    await clock.settle();
    expect(reported).toEqual([[move(1).key, 'gone']]);
  });
});

describe('waiting for an effect', () => {
  test('returns how it ended, even if it was not accepted yet', async () => {
    const { clock, store, runner, started } = setUp();
    runner.start();
    const waited = runner.settled(move(1).key, MINUTE);
    store.accept([move(1)], 1);
    runner.wake();
    await clock.settle();
    started[0]?.answer({ done: 'moved' });
    await clock.settle();
    expect(await waited).toEqual({ state: 'done', outcome: 'moved' });
    expect(await runner.settled(move(1).key, MINUTE)).toEqual({ state: 'done', outcome: 'moved' });
  });

  test('ends with the current state', async () => {
    const { clock, store, runner } = setUp({ handlers: { 'move-ticket': answering({ failed: 'busy' }) } });
    store.accept([move(1)], 1);
    runner.start();
    const waits = [runner.settled(move(1).key, 500), runner.settled('2:none', 500)];
    await clock.advance(500);
    expect(await Promise.all(waits)).toEqual([
      { state: 'pending', attempts: 1, lastError: 'busy' },
      { state: 'unknown' },
    ]);
  });
});

describe('stopping', () => {
  test('waits for what is running, and starts nothing more', async () => {
    const { clock, store, runner, started } = setUp();
    store.accept([move(1), move(2)], 2);
    runner.start();
    await clock.settle();
    const stopping = runner.stop();
    started[0]?.answer({ done: 'moved' });
    await stopping;
    await clock.advance(HOUR);
    expect([started.length, store.counts()]).toMatchObject([1, { done: 1, pending: 1 }]);
  });

  test('waits no longer than five seconds', async () => {
    const { clock, store, runner, started } = setUp();
    store.accept([move(1)], 1);
    runner.start();
    await clock.settle();
    const waited = runner.settled(move(1).key, HOUR);
    const stopping = runner.stop();
    await clock.advance(5 * SECOND);
    await stopping;
    expect(started[0]?.signal.aborted).toBe(true);
    started[0]?.answer({ done: 'late' });
    await clock.settle();
    expect(await waited).toMatchObject({ state: 'pending' });
    expect(store.counts()).toMatchObject({ done: 0, pending: 1 });
  });
});

test('a store that fails is not used for a while; nothing is lost', async () => {
  const clock = createManualClock();
  const real = openStore(join(temporaryFolder(), 'svc.db'), { clock });
  onTestFinished(() => real.close());
  let full = true;
  let runs = 0;
  const store: OutboxStore = {
    ...real,
    finish(key, outcome) {
      if (full) throw new Error('database or disk is full');
      real.finish(key, outcome);
    },
  };
  const failing: (string | null)[] = [];
  const runner = createOutboxRunner({
    store,
    clock,
    random: () => 1,
    handlers: {
      'move-ticket': async () => {
        runs += 1;
        return { done: 'moved' };
      },
    },
    onGaveUp: async () => undefined,
    onFailing: (reason) => failing.push(reason),
  });
  store.accept([move(1)], 1);
  runner.start();
  await clock.settle();
  runner.wake();
  await clock.advance(4 * SECOND);
  expect([runs, failing]).toEqual([1, ['the outbox cannot be read or written: database or disk is full']]);
  full = false;
  await clock.advance(2 * SECOND);
  expect([runs, real.counts().done, failing.at(-1)]).toEqual([2, 1, null]);
  await runner.stop();
});

test.each([1, 2, 3, 4, 5])('stopped and started at random, failing at random: seed %i', async (seed) => {
  const random = createRandom(seed);
  const clock = createManualClock();
  const path = join(temporaryFolder(), 'svc.db');
  const reached = new Map<string, number[]>();
  const gaveUp: string[] = [];
  const doomed = (ticket: string): boolean => ticket === 'T-3';
  let seq = 0;
  let running = 0;
  let most = 0;

  const handlers: Handlers = {
    async 'move-ticket'({ ticket, seq: cause }, { signal }) {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => void clock.after(random.below(500), resolve));
      running -= 1;
      if (signal.aborted) return { failed: 'stopped' };
      if (random.chance(0.3)) throw new Error('out of order');
      if (doomed(ticket)) return { failed: 'no such ticket', permanent: true };
      const before = reached.get(ticket) ?? [];
      if (before.at(-1) !== cause) reached.set(ticket, [...before, cause]);
      return random.chance(0.2) ? { failed: 'the answer was lost' } : { done: 'moved' };
    },
  };
  const onGaveUp = async ({ key }: OutboxRow): Promise<void> => {
    if (random.chance(0.3)) throw new Error('the log is full');
    if (!gaveUp.includes(key)) gaveUp.push(key);
  };

  const expected = new Map<string, number[]>();
  for (let round = 0; round < 12; round += 1) {
    const store = openStore(path, { lastSeq: seq, clock });
    const runner = createOutboxRunner({ store, clock, random: random.next, handlers, onGaveUp });
    runner.start();
    for (let line = 0; line < 8; line += 1) {
      seq += 1;
      const ticket = `T-${random.below(4)}`;
      expected.set(ticket, [...(expected.get(ticket) ?? []), seq]);
      store.accept([move(seq, ticket)], seq);
      runner.wake();
      await clock.advance(random.below(800));
    }
    if (round === 11) await clock.advance(30 * MINUTE);
    const stopping = runner.stop();
    await clock.advance(6 * SECOND);
    await stopping;
    if (round === 11) expect(store.counts()).toMatchObject({ pending: 0, unsent: 0 });
    store.close();
  }
  const hopeless = expected.get('T-3') ?? [];
  expected.delete('T-3');
  expect(reached).toEqual(expected);
  expect(gaveUp.toSorted()).toEqual(hopeless.map((cause) => move(cause, 'T-3').key).toSorted());
  expect(most).toBeLessThanOrEqual(4);
});
