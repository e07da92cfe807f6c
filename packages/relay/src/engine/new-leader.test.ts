// What followers do when a new leader has not applied yet what the previous one acknowledged. The test scripts the
// stream, because a real cluster cannot be put into this state.
import { until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { checkOf, encodeFrame } from '../protocol/frame.ts';

import { EngineUnavailable, type Gap, namesFor, type Position } from './engine.ts';

import { createFeeds } from './feeds.ts';

import { deliveryOf } from './testing/engine-for-test.ts';

type Message = { subject: string; seq: number; check: string; data: Buffer; at: number };
type LiveCallback = (error: null, message: unknown) => void;

const positionAt = (seq: number): Position => ({ epoch: 'e', seq, check: checkOf(`c:${seq}`) });

/** 100 deliveries are stored; every server has applied those up to `applied`, at first 50. */
function setUp() {
  const stored: Message[] = Array.from({ length: 100 }, (_, at) => ({
    subject: 'x',
    seq: at + 1,
    check: checkOf(`c:${at + 1}`),
    data: encodeFrame(deliveryOf(String(at + 1))),
    at: 0,
  }));
  const leader = { applied: 50, answers: true, asked: 0 };
  let callback: LiveCallback = () => undefined;
  const from = (seq: number): Message | undefined =>
    stored.find((message) => message.seq >= seq && message.seq <= leader.applied);
  const state = () => ({ epoch: 'e', first: 1, last: leader.applied, replicated: true });
  const unused = (): never => {
    throw new Error('not for this test');
  };
  const feeds = createFeeds(
    {
      connection: {
        nats: {
          subscribe(_: string, options: { callback: LiveCallback }) {
            callback = options.callback;
            return { unsubscribe: () => undefined };
          },
          isClosed: () => false,
        },
      } as never,
      store: {
        page: async (_, __, after) => ({
          anchor: after <= leader.applied ? (stored[after - 1]?.check ?? null) : null,
          messages: stored.filter(({ seq }) => seq > after && seq <= leader.applied),
          end: true,
        }),
        next: async (_, __, seq) => from(seq),
        async leaderNext(_, __, seq) {
          if (!leader.answers) throw new EngineUnavailable('the leader is gone');
          leader.asked += 1;
          return from(seq);
        },
        leaderLast: unused,
        last: unused,
        since: unused,
        bySequence: unused,
        count: unused,
        weigh: unused,
        info: unused,
        purge: unused,
        manager: undefined as never,
      },
      shards: {
        fresh: async () => state(),
        known: state,
        answering: unused,
        failing: () => [],
        checkOthers: async () => undefined,
        onNewEpoch: () => undefined,
      },
      names: namesFor('test'),
      layout: { shards: 1, maxDeliveriesPerChannel: 1000, maxBytesPerChannel: 1e9 },
      budget: { bytesLeft: 1e9 },
      pages: (work) => work(),
      largeBodies: (work) => work(),
      trimmedBelow: async () => 0,
    },
    { lingerMs: 0, soonMs: 1e6, everyMs: 1e6 },
  );
  onTestFinished(() => feeds.close());
  const received = { sequences: [] as number[], gaps: [] as Gap[], ready: false };
  const follower = feeds.follow('c', {
    after: positionAt(50),
    onReady: () => void (received.ready = true),
    onDelivery: ({ position }) => received.sequences.push(position.seq) > 0,
    onGap: (gap) => void received.gaps.push(gap),
    onEnd: () => undefined,
  });
  /** A live copy whose predecessor this process has not received. */
  function repeat(seq: number): void {
    const values: Record<string, string> = {
      'Nats-Sequence': String(seq),
      'Nats-Last-Sequence': String(seq - 1),
      'Nats-Msg-Id': `c:${seq}`,
    };
    callback(null, { headers: { get: (name: string) => values[name] }, data: stored[seq - 1]?.data });
  }
  return { feeds, leader, received, follower, repeat };
}

const numbers = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);

test('what a new leader has not applied yet is awaited, not treated as trimmed', async () => {
  const { leader, received, follower, repeat } = setUp();
  await until(() => received.ready);
  // Live copies of the old leader: only of the newest, without those in between.
  repeat(100);
  await until(() => leader.asked > 2);
  expect(received.sequences).toEqual([]);
  leader.applied = 100;
  await until(() => received.sequences.length === 50);
  expect(received.sequences).toEqual(numbers(51, 100));
  expect(received.gaps).toEqual([]);
  expect(follower.position()?.seq).toBe(100);
});

test('a leader that is behind the previous one confirms nothing', async () => {
  const { feeds, leader, received, follower } = setUp();
  await until(() => follower.position()?.seq === 50 && received.ready);
  // The old leader has 100, and dies before it is asked for them; their live copies die with it.
  leader.applied = 100;
  leader.answers = false;
  await feeds.check(0);
  leader.answers = true;
  leader.applied = 50;
  await feeds.check(0);
  expect(follower.position()?.seq).toBe(50);
  leader.applied = 100;
  await feeds.check(0);
  await until(() => received.sequences.length === 50);
  expect(received.sequences).toEqual(numbers(51, 100));
  expect(received.gaps).toEqual([]);
});

test('after an election everything after the last delivered position is read again', async () => {
  const { feeds, leader, received, follower } = setUp();
  await until(() => follower.position()?.seq === 50 && received.ready);
  leader.applied = 60;
  feeds.elected(0);
  await until(() => received.sequences.length === 10);
  expect(received.sequences).toEqual(numbers(51, 60));
});
