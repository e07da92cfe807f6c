import { createManualClock } from '@svc/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDeliveryQueue, type Settled } from './delivery-queue.ts';
import type { ReceiverAnswer, TunnelDelivery } from './io/delivery-service.ts';

const accepted: ReceiverAnswer = { status: 200, outcome: 'accepted' };
const notWritable: ReceiverAnswer = { status: 503, outcome: 'log-not-writable' };

/** A receiver that answers when the test lets it. */
function setUp(answerAtOnce?: (name: string) => ReceiverAnswer) {
  const clock = createManualClock();
  const calls: {
    name: string;
    position: string | undefined;
    answer: (given: ReceiverAnswer | Error) => void;
  }[] = [];
  const settled: [string, Settled][] = [];
  const held: (string | null)[] = [];
  const failed: unknown[] = [];
  const queue = createDeliveryQueue({
    atOnce: 8,
    channel: 'c',
    clock,
    random: () => 0.5,
    onWaiting: (why) => void held.push(why),
    onFailed: (error) => void failed.push(error),
    receive: ({ body, relay }: TunnelDelivery) =>
      new Promise((resolve, reject) => {
        const name = body.toString();
        const answer = (given: ReceiverAnswer | Error): void =>
          given instanceof Error ? reject(given) : resolve(given);
        calls.push({ name, position: relay?.id, answer });
        if (answerAtOnce !== undefined) answer(answerAtOnce(name));
      }),
  });
  const push = (name: string, position: string | null = null): void =>
    queue.push({ headers: {}, body: Buffer.from(name) }, position, (how) => void settled.push([name, how]));
  const names = (): string[] => calls.map(({ name }) => name);
  const answer = async (name: string, given: ReceiverAnswer | Error = accepted): Promise<void> => {
    calls.findLast((call) => call.name === name)?.answer(given);
    await clock.settle();
  };
  return { clock, calls, names, settled, held, failed, queue, push, answer };
}

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1));

test('at most eight run at once, started in the order of arrival', async () => {
  const { push, names, answer, queue } = setUp();
  for (const name of many(12)) push(name);
  expect(names()).toEqual(many(8));
  await answer('3');
  expect(names()).toEqual(many(9));
  for (const name of many(12)) await answer(name);
  expect(names()).toEqual(many(12));
  expect(queue.waiting()).toBe(0);
});

test.each<[ReceiverAnswer, Settled]>([
  [accepted, 'accepted'],
  [{ status: 200, outcome: 'duplicate' }, 'duplicate'],
  [{ status: 401, outcome: 'bad-signature' }, 'unauthorised'],
  [{ status: 400, outcome: 'bad-payload' }, 'refused'],
  [{ status: 503, outcome: 'no-secret' }, 'refused'],
])('%j settles a delivery', async (given, how) => {
  const { push, answer, settled, held } = setUp();
  push('1');
  await answer('1', given);
  expect(settled).toEqual([['1', how]]);
  expect(held).toEqual([]);
});

test('while the log is not writable everything waits, and then continues in order', async () => {
  let works = false;
  const { clock, push, names, settled, held, queue } = setUp(() => (works ? accepted : notWritable));
  for (const name of many(20)) push(name);
  await clock.advance(60_000);
  expect(settled).toEqual([]);
  expect(held).toEqual(['the event log is not writable']);
  // Eight at first, then one at a time: 0.25, 0.5, 1, 2, 2, … seconds apart.
  expect(names()).toHaveLength(8 + 32);
  expect(new Set(names().slice(8))).toEqual(new Set(['1']));
  works = true;
  await clock.advance(15_000);
  expect(settled.map(([name]) => name)).toEqual(many(20));
  expect(held).toEqual(['the event log is not writable', null]);
  expect(queue.waiting()).toBe(0);
});

test('a delivery carries its own position only when all before it are settled', async () => {
  const { push, calls, answer, queue } = setUp();
  queue.pass('e.0');
  push('1', 'e.1');
  push('2', 'e.2');
  push('3', 'e.3');
  expect(calls.map(({ position }) => position)).toEqual(['e.1', 'e.0', 'e.0']);
  await answer('2');
  expect(queue.completeTo()).toBe('e.0');
  await answer('1');
  expect(queue.completeTo()).toBe('e.2');
  push('4', 'e.4');
  expect(calls.at(-1)?.position).toBe('e.2');
  await answer('4');
  await answer('3');
  expect(queue.completeTo()).toBe('e.4');
  queue.pass('e.9');
  push('10', 'e.10');
  expect(calls.at(-1)?.position).toBe('e.10');
  expect(queue.completeTo()).toBe('e.9');
});

test('what failed while a later one was written does not count as read', async () => {
  const { clock, push, calls, answer, queue } = setUp();
  queue.pass('e.0');
  push('1', 'e.1');
  push('2', 'e.2');
  await answer('1', notWritable);
  await answer('2');
  // A crash now would leave e.0 as the newest position in the log, and both would come again.
  expect(calls.map(({ position }) => position)).toEqual(['e.1', 'e.0']);
  expect(queue.completeTo()).toBe('e.0');
  await clock.advance(1000);
  await answer('1');
  expect(queue.completeTo()).toBe('e.2');
});

test('a failing receiver is tried three times, and then the next delivery follows', async () => {
  const { clock, push, settled, failed, answer } = setUp();
  push('1');
  push('2');
  await answer('2');
  const given = [
    notWritable,
    notWritable,
    new Error('a bug'),
    new Error('a bug'),
    notWritable,
    new Error('a bug'),
  ];
  for (const refusal of given) {
    expect(settled).toHaveLength(1);
    await answer('1', refusal);
    await clock.advance(20_000);
  }
  expect(settled).toEqual([
    ['2', 'accepted'],
    ['1', 'failed'],
  ]);
  expect(failed).toHaveLength(3);
});

test('it is full when too much is waiting, and resolves when there is space', async () => {
  const { queue, push, answer, clock } = setUp();
  const never = new AbortController().signal;
  await queue.waitForSpace(never);
  for (const name of many(1000)) push(name);
  expect(queue.isFull()).toBe(true);
  let resolved = false;
  void queue.waitForSpace(never).then(() => (resolved = true));
  await clock.settle();
  expect(resolved).toBe(false);
  await answer('1');
  expect(resolved).toBe(true);
});

test('large bodies fill it too, and waiting can be aborted', async () => {
  const { queue } = setUp();
  queue.push({ headers: {}, body: Buffer.alloc(32 * 1024 * 1024) }, null, () => undefined);
  expect(queue.isFull()).toBe(true);
  const abort = new AbortController();
  const waiting = queue.waitForSpace(abort.signal);
  abort.abort();
  await waiting;
  await queue.waitForSpace(abort.signal);
});

test('draining passes on what has arrived', async () => {
  const { queue, push, settled } = setUp(() => accepted);
  for (const name of many(30)) push(name);
  await queue.drain(5000);
  expect(settled).toHaveLength(30);
  await queue.drain(5000);
});

test('draining does not wait for a log that is not writable, and nothing after it is written', async () => {
  const { queue, push, names, clock } = setUp((name) => (name === '1' ? notWritable : accepted));
  for (const name of many(30)) push(name);
  await clock.settle();
  const before = names().length;
  await queue.drain(5000);
  await clock.advance(60_000);
  expect(names()).toHaveLength(before);
});

test('draining does not wait for a hanging receiver longer than the timeout', async () => {
  const { queue, push, clock } = setUp();
  push('1');
  let drained = false;
  void queue.drain(5000).then(() => (drained = true));
  await clock.advance(4900);
  expect(drained).toBe(false);
  await clock.advance(200);
  expect(drained).toBe(true);
});

test('a crash at any moment loses nothing: all up to the newest position in the log is in the log', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('write', 'refuse', 'reject', 'duplicate', 'wait'), {
        minLength: 1,
        maxLength: 80,
      }),
      fc.array(fc.nat(7), { minLength: 80, maxLength: 80 }),
      async (fates, choices) => {
        const { clock, calls, push, queue } = setUp();
        const log: { name: number; position: number }[] = [];
        const known = new Set<number>();
        queue.pass('e.0');
        for (const name of many(30)) push(name, `e.${name}`);
        for (const [index, fate] of fates.entries()) {
          const call = calls.splice((choices[index] ?? 0) % Math.max(1, calls.length), 1)[0];
          if (call !== undefined && fate !== 'wait') {
            const name = Number(call.name);
            if (fate === 'write') log.push({ name, position: Number(call.position?.slice(2)) });
            if (fate === 'write' || fate === 'duplicate') known.add(name);
            // A refused signature needs no line either.
            if (fate === 'reject') known.add(name);
            const answers = {
              write: accepted,
              duplicate: { status: 200, outcome: 'duplicate' },
              reject: { status: 401, outcome: 'bad-signature' },
              refuse: notWritable,
            };
            call.answer(answers[fate]);
            await clock.settle();
          } else await clock.advance(500);
          const newest = log.at(-1)?.position ?? 0;
          for (let position = 1; position <= newest; position += 1) expect(known).toContain(position);
        }
      },
    ),
    { numRuns: 60 },
  );
});
