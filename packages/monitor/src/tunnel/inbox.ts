// What becomes of a delivery that the relay sent: read, recognised as a self-test or handed to the receiver,
// and counted. It outlives connections: what has arrived is not asked for again.
import { type FeedConditions, isRelayPosition, SELF_TEST_HEADER } from '@svc/core';
import type { Logger } from 'pino';
import type { TunnelClock } from './clock.ts';
import { type Receive, readDelivery, type TunnelDelivery } from './delivery.ts';
import { createFigures, type DeliveryCounts } from './figures.ts';
import { createHandOver } from './hand-over.ts';

/** How a delivery of `svc feeds ping` is told from others; it is then never handed to the receiver. */
export type SelfTest = { isGenuine: (delivery: TunnelDelivery) => boolean; onArrival: (id: string) => void };

export type InboxReport = {
  deliveries: DeliveryCounts;
  unauthorisedLastHour: { exact: number; reserialised: number };
  /** Deliveries that have arrived and are not settled. */
  waiting: number;
};

export type Inbox = {
  /** `position` is the frame's id where the relay gives positions. */
  take: (data: string, position: string | undefined) => void;
  /** The stream begins after this position. */
  beginAfter: (position: string) => void;
  /** The newest position that has arrived: it is safe in memory, and the log has the older ones. */
  arrivedTo: () => string | null;
  /** Everything up to here is settled. */
  completeTo: () => string | null;
  isFull: () => boolean;
  room: (signal: AbortSignal) => Promise<void>;
  drain: (patienceMs: number) => Promise<void>;
  conditions: () => FeedConditions;
  report: () => InboxReport;
};

export function createInbox(options: {
  feed: string;
  channelKey: string;
  receive: Receive;
  clock: TunnelClock;
  random: () => number;
  selfTest: SelfTest | undefined;
  logger: Pick<Logger, 'warn' | 'error'>;
  /** Called when the conditions may have changed. */
  onChange: () => void;
}): Inbox {
  const { feed, selfTest, logger, clock, onChange } = options;
  const figures = createFigures(clock.now);
  let held: string | null = null;
  let arrivedTo: string | null = null;
  const handOver = createHandOver({
    channel: options.channelKey,
    receive: options.receive,
    clock,
    random: options.random,
    onHeld(why) {
      held = why;
      onChange();
    },
    onFailed: (error) => logger.error({ err: error, feed }, 'a delivery failed in the receiver'),
  });

  function pass(position: string | null): void {
    if (position === null) return;
    arrivedTo = position;
    handOver.pass(position);
  }

  function take(data: string, id: string | undefined): void {
    const position = isRelayPosition(id) ? id : null;
    const read = readDelivery(data);
    if (!read.ok) {
      figures.note(read.why === 'malformed' ? 'malformed' : 'tooLarge');
      logger.warn({ feed, problem: read.problem }, 'the relay sent what is no delivery');
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
    handOver.push(delivery, position, (how) => {
      if (how === 'unauthorised') figures.noteUnauthorised(exact);
      else figures.note(how);
      onChange();
    });
  }

  return {
    take,
    beginAfter: pass,
    arrivedTo: () => arrivedTo,
    completeTo: handOver.completeTo,
    isFull: handOver.isFull,
    room: handOver.room,
    drain: handOver.drain,
    conditions: () => ({ held, unauthorised: figures.unauthorised() }),
    report: () => ({ ...figures.report(), waiting: handOver.waiting() }),
  };
}
