// The daemon's outbound connection to one relay channel, kept for months. The modes are those of the pure state machine
// in core (tunnel/tunnel-state.ts); this is what the loop does in each:
//
//   idle         nothing. `start` leads to connecting.
//   connecting   dials; any answer but an event stream, or no answer within 15 s, leads to backing-off. The first
//                frame leads to live.
//   live         passes every delivery to the receiver. The end of the connection leads to backing-off; no ping,
//                delivery or comment for 75 s (2.5 heartbeats, if the relay announces its own) leads to late.
//   late         closes the silent connection and dials a new one at once: live or backing-off.
//   backing-off  waits 0.25 s, doubling to 10 s, each ±50 %, or as long as the relay's Retry-After asks (at most
//                2 min), then connecting. After a refusal (the read key or the channel is wrong) the wait keeps
//                doubling, to 5 min. Only a connection that lasted 10 s, or delivered something new and genuine,
//                resets the wait.
//   disabled     there is no channel or no secret; final.
//
// A jump of the clock by more than a minute (the machine slept) leads to connecting at once, from anywhere.
// No answer ends the loop: only `stop` does.
//
// A svc-relay (core, tunnel/relay-protocol.ts) is recognised by its first answer and dialled again, for raw bytes and
// for what followed the newest durable position. The public relay can do neither: what was sent while the connection
// was down is missing, and `onGap` is called.
import { positionInReady, readGap } from '@svc/contract/relay/relay-headers';
import { type Clock, systemClock } from '@svc/lib/clock';
import type { Logger } from 'pino';
import type { FeedChannel } from '../feed-channel.ts';
import {
  disabledTunnel,
  type FeedGrade,
  gradeFeed,
  idleTunnel,
  isOtherGrade,
  stepTunnel,
  type TunnelEvent,
  type TunnelMode,
} from '../feed-grade.ts';
import { addressFingerprint } from './address-fingerprint.ts';
import type { Receive, StreamFrame } from './delivery-service.ts';

import { createInbox, type InboxReport, type SelfTest } from './inbox.ts';
import { type Connection, type KeptConnection, keepConnected } from './keep-connected.ts';
import type { ReadKey } from './provision-channel.ts';
import { type Connect, createConnect } from './session.ts';

export type TunnelOptions = {
  /** Whose deliveries come through this tunnel, for logs. */
  feed: string;
  channel: FeedChannel;
  receive: Receive;
  /** The relay position of the newest durable line of a channel (`log.cursorOf`), by the channel's key. */
  cursorOf: (channelKey: string) => string | null;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Called when the grade changes, with the previous one. */
  onState?: (to: FeedGrade, from: FeedGrade) => void;
  /** Called when deliveries may have been missed: ask the sender for them. */
  onGap?: (gap: Gap) => void;
  selfTest?: SelfTest;
  /** The key to read the channel with, if the relay wants one. It is sent in a header and used nowhere else. */
  readKey?: ReadKey | undefined;
  /** Our name in the status of a svc-relay, which shows how far this machine has read. */
  subscriber?: string | undefined;
  clock?: Clock;
  /** From 0 up to 1. */
  random?: () => number;
  connect?: Connect;
  maxFrameBytes?: number;
};

export type Gap = {
  reason: 'start' | 'reconnect' | 'relay-lost-it';
  /** When the relay last sent something before the gap; null if it never did. */
  since: number | null;
};

type TunnelStats = InboxReport & {
  connectedSince: number | null;
  lastReceivedAt: number | null;
  lastPingAt: number | null;
  lastMessageAt: number | null;
  reconnects: number;
  gaps: number;
  lastError: { at: number; why: string } | null;
  /** Everything up to here is settled; null if the relay has no positions. */
  cursor: string | null;
};

export type Tunnel = {
  /** The channel's name in event lines: a fingerprint, because its address is a secret. */
  channelKey: string;
  start: () => void;
  /** Closes the connection, passes on what has arrived, and resolves within 5 s. It cannot be started again. */
  stop: () => Promise<void>;
  state: () => { now: TunnelMode; grade: FeedGrade };
  stats: () => TunnelStats;
  /** Whether it is live within the time. */
  up: (timeoutMs: number) => Promise<boolean>;
};

const DRAIN_MS = 5000;

export function createTunnel(options: TunnelOptions): Tunnel {
  const { feed, channel, cursorOf, logger, onState, onGap, selfTest } = options;
  const { clock = systemClock, random = Math.random } = options;
  const channelKey = addressFingerprint(channel.use ? channel.url : '');
  const waitingToBeUp = new Set<() => void>();
  let state = channel.use ? idleTunnel() : disabledTunnel(channel.why, channel.remedy);
  let kept: KeptConnection | null = null;
  /** When the relay last sent something before the current connection. */
  let heardBeforeThis: number | null = null;
  const seen = {
    lastPingAt: null as number | null,
    lastMessageAt: null as number | null,
    lastError: null as { at: number; why: string } | null,
    reconnects: 0,
    gaps: 0,
  };
  const inbox = createInbox({
    feed,
    channelKey,
    receive: options.receive,
    clock,
    random,
    selfTest: selfTest && {
      isGenuine: selfTest.isGenuine,
      onArrival: (id) => safely(() => selfTest.onArrival(id)),
    },
    logger,
    onChange: regrade,
  });
  let grade = gradeFeed(state, inbox.conditions(), clock.now());

  /** A callback that throws must not end the loop. */
  function safely(call: () => void): void {
    try {
      call();
    } catch (error) {
      logger.error({ err: error, feed }, 'a callback of the tunnel failed');
    }
  }

  function regrade(): void {
    const before = grade;
    const next = gradeFeed(state, inbox.conditions(), clock.now());
    const isNews = isOtherGrade(next, before);
    grade = { ...next, since: isNews ? (next.since ?? clock.now()) : before.since };
    if (!isNews) return;
    logger.info({ feed, from: before.grade, to: grade.grade, why: grade.why }, 'feed state changed');
    safely(() => onState?.(grade, before));
  }

  function step(event: TunnelEvent): void {
    const before = state;
    state = stepTunnel(state, event);
    if (state.failure !== null) seen.lastError = { at: state.failure.at, why: state.failure.why };
    if (state.now.mode === 'live' && before.now.mode !== 'live') live(before.heardAt);
    else if (before.now.mode === 'live' && state.now.mode !== 'live')
      logger.info({ feed, why: state.failure?.why, by: event.type }, 'the connection to the relay ended');
    regrade();
  }

  function live(heardBefore: number | null): void {
    heardBeforeThis = heardBefore;
    for (const notify of waitingToBeUp) notify();
    if (heardBefore !== null) seen.reconnects += 1;
    if (kept?.now()?.resumed === true) return;
    gap({ reason: heardBefore === null ? 'start' : 'reconnect', since: heardBefore });
  }

  function gap(found: Gap): void {
    seen.gaps += 1;
    safely(() => onGap?.(found));
  }

  function onFrame({ event, id, data }: StreamFrame, { relayKeeps }: Connection): void {
    step({ type: 'heard', at: clock.now() });
    if (event === 'ping' || event === 'ready') {
      if (event === 'ping') seen.lastPingAt = clock.now();
      const position = relayKeeps ? positionInReady(data) : null;
      if (position !== null) inbox.beginAfter(position);
    } else if (event === 'gap') {
      logger.warn({ feed, ...readGap(data) }, 'the relay no longer has the missed deliveries');
      gap({ reason: 'relay-lost-it', since: heardBeforeThis });
    } else if (event === undefined || event === 'message') {
      seen.lastMessageAt = clock.now();
      inbox.take(data, relayKeeps ? id : undefined);
    }
  }

  /** For the report only: an unreadable index must not prevent the rest of it. */
  function savedCursor(): string | null {
    let cursor: string | null = null;
    safely(() => {
      cursor = cursorOf(channelKey);
    });
    return cursor;
  }

  function start(): void {
    if (!channel.use || kept !== null) return;
    step({ type: 'start', at: clock.now() });
    kept = keepConnected({
      channel: channel.url,
      connect: options.connect ?? createConnect(),
      clock,
      random,
      readKey: options.readKey,
      subscriber: options.subscriber,
      maxFrameBytes: options.maxFrameBytes,
      resumeAfter: () => inbox.arrivedTo() ?? cursorOf(channelKey),
      accepted: () => inbox.report().deliveries.accepted,
      isFull: inbox.isFull,
      waitForSpace: inbox.waitForSpace,
      onFrame,
      onEvent: step,
      onCheck: regrade,
    });
  }

  return {
    channelKey,
    start,
    async stop() {
      await kept?.stop();
      await inbox.drain(DRAIN_MS);
      step({ type: 'stop', at: clock.now() });
    },
    state: () => ({ now: state.now, grade }),
    stats: () => ({
      ...inbox.report(),
      ...seen,
      connectedSince: kept?.now()?.since ?? null,
      lastReceivedAt: state.heardAt,
      cursor: inbox.completeTo() ?? (kept === null ? null : savedCursor()),
    }),
    up: (timeoutMs) =>
      new Promise((resolve) => {
        if (state.now.mode === 'live') return resolve(true);
        const finish = (isUp: boolean): void => {
          cancel();
          waitingToBeUp.delete(notify);
          resolve(isUp);
        };
        const notify = (): void => finish(true);
        const cancel = clock.after(timeoutMs, () => finish(false));
        waitingToBeUp.add(notify);
      }),
  };
}
