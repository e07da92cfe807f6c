// Handles each delivery that the relay sends: parses it, recognises self-tests, passes the others to the receiver, and
// counts. It outlives connections: what has arrived is not requested again.
import { isRelayPosition } from '@svc/contract/relay/relay-headers';
import type { Clock } from '@svc/lib/clock';
import type { Logger } from 'pino';
import { createDeliveryQueue, type Settled } from '../delivery-queue.ts';
import { type FeedConditions, SELF_TEST_HEADER } from '../feed-grade.ts';
import { type Receive, readDelivery, type TunnelDelivery } from './delivery-service.ts';

// How often something happened within the last hour, in sixty slots: a flood uses no more memory.

const SLOTS = 60;

export type RecentCount = { note: () => void; count: () => number };

export function createRecentCount(now: () => number, windowMs = 3_600_000): RecentCount {
  const slotMs = windowMs / SLOTS;
  const slots = Array.from({ length: SLOTS }, () => ({ period: -1, count: 0 }));
  const currentPeriod = (): number => Math.floor(now() / slotMs);
  return {
    note() {
      const period = currentPeriod();
      const slot = slots[period % SLOTS];
      if (slot === undefined) return;
      slot.count = slot.period === period ? slot.count + 1 : 1;
      slot.period = period;
    },
    count() {
      const period = currentPeriod();
      return slots.reduce(
        (sum, slot) => (slot.period > period - SLOTS && slot.period <= period ? sum + slot.count : sum),
        0,
      );
    },
  };
}

// Counters of a tunnel: for health, metrics, and whether signatures fail.

type DeliveryCounts = {
  accepted: number;
  duplicate: number;
  /** Wrong signature. `exact`: over the sender's bytes; `reserialised`: the relay rewrote the JSON. */
  unauthorised: { exact: number; reserialised: number };
  /** The receiver found no event in it. */
  refused: number;
  /** The frame was not a delivery. */
  malformed: number;
  tooLarge: number;
  /** The receiver failed repeatedly. */
  failed: number;
  selfTest: number;
};

/** This many wrong signatures in a row, without a verified delivery in between, are not an accident. */
const SUSPICIOUS_ROW = 3;

export function createFigures(now: () => number) {
  const deliveries: DeliveryCounts = {
    accepted: 0,
    duplicate: 0,
    unauthorised: { exact: 0, reserialised: 0 },
    refused: 0,
    malformed: 0,
    tooLarge: 0,
    failed: 0,
    selfTest: 0,
  };
  const lastHour = { exact: createRecentCount(now), reserialised: createRecentCount(now) };
  let row = { exact: 0, reserialised: 0 };

  return {
    note(how: Exclude<Settled, 'unauthorised'> | 'malformed' | 'tooLarge' | 'selfTest'): void {
      deliveries[how] += 1;
      if (how !== 'malformed' && how !== 'tooLarge' && how !== 'failed') row = { exact: 0, reserialised: 0 };
    },
    noteUnauthorised(exact: boolean): void {
      const kind = exact ? 'exact' : 'reserialised';
      deliveries.unauthorised[kind] += 1;
      lastHour[kind].note();
      row[kind] += 1;
    },
    unauthorised(): FeedConditions['unauthorised'] {
      if (row.exact + row.reserialised < SUSPICIOUS_ROW) return 'no';
      return row.exact > 0 ? 'signed-otherwise' : 'rewritten-or-signed-otherwise';
    },
    report: () => ({
      deliveries: structuredClone(deliveries),
      unauthorisedLastHour: { exact: lastHour.exact.count(), reserialised: lastHour.reserialised.count() },
    }),
  };
}

/** How a delivery of `svc feeds ping` is recognised; it is never passed to the receiver. */
export type SelfTest = { isGenuine: (delivery: TunnelDelivery) => boolean; onArrival: (id: string) => void };

export type InboxReport = {
  deliveries: DeliveryCounts;
  unauthorisedLastHour: { exact: number; reserialised: number };
  /** Deliveries that have arrived and are not settled. */
  waiting: number;
};

export type Inbox = {
  /** `position` is the frame's id if the relay has positions. */
  take: (data: string, position: string | undefined) => void;
  /** The stream starts after this position. */
  beginAfter: (position: string) => void;
  /** The newest position that has arrived: its delivery is at least in memory. */
  arrivedTo: () => string | null;
  /** Everything up to here is settled. */
  completeTo: () => string | null;
  isFull: () => boolean;
  waitForSpace: (signal: AbortSignal) => Promise<void>;
  drain: (timeoutMs: number) => Promise<void>;
  conditions: () => FeedConditions;
  report: () => InboxReport;
};

export function createInbox(options: {
  feed: string;
  channelKey: string;
  receive: Receive;
  clock: Clock;
  random: () => number;
  selfTest: SelfTest | undefined;
  logger: Pick<Logger, 'warn' | 'error'>;
  /** Called when the conditions may have changed. */
  onChange: () => void;
}): Inbox {
  const { feed, selfTest, logger, clock, onChange } = options;
  const figures = createFigures(clock.now);
  let waiting: string | null = null;
  let arrivedTo: string | null = null;
  const queue = createDeliveryQueue({
    channel: options.channelKey,
    receive: options.receive,
    clock,
    random: options.random,
    onWaiting(why) {
      waiting = why;
      onChange();
    },
    onFailed: (error) => logger.error({ err: error, feed }, 'a delivery failed in the receiver'),
  });

  function pass(position: string | null): void {
    if (position === null) return;
    arrivedTo = position;
    queue.pass(position);
  }

  function take(data: string, id: string | undefined): void {
    const position = isRelayPosition(id) ? id : null;
    const read = readDelivery(data);
    if (!read.ok) {
      figures.note(read.why === 'malformed' ? 'malformed' : 'tooLarge');
      logger.warn({ feed, problem: read.problem }, 'the relay sent something that is not a delivery');
      return pass(position);
    }
    const { delivery, exact } = read;
    const test = delivery.headers[SELF_TEST_HEADER];
    if (typeof test === 'string' && selfTest?.isGenuine(delivery) === true) {
      figures.note('selfTest');
      selfTest.onArrival(test);
      return pass(position);
    }
    arrivedTo = position ?? arrivedTo;
    queue.push(delivery, position, (how) => {
      if (how === 'unauthorised') figures.noteUnauthorised(exact);
      else figures.note(how);
      onChange();
    });
  }

  return {
    take,
    beginAfter: pass,
    arrivedTo: () => arrivedTo,
    completeTo: queue.completeTo,
    isFull: queue.isFull,
    waitForSpace: queue.waitForSpace,
    drain: queue.drain,
    conditions: () => ({ waiting, unauthorised: figures.unauthorised() }),
    report: () => ({ ...figures.report(), waiting: queue.waiting() }),
  };
}
