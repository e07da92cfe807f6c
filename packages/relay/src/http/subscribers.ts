// All streams of this process. An idle subscriber costs its socket and one small record: one timer sends the
// heartbeats of all, the listeners are shared, and frames are written to the socket itself.
//
// A stream is close-delimited (`Connection: close`, no chunks), so a frame is sent as it is. A reader that is slower than
// its channel is paused at 1 MiB of unsent data, and continues from the engine when it has caught up. A large delivery is
// written in pieces, as fast as the reader reads. The unsent data of all readers has one budget: above it those with the
// most are disconnected. So is a reader that reads nothing for a while. It loses nothing, because it resumes after the
// last id that it has.
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Follower, Gap, Position, StoredDelivery } from '../engine/engine.ts';
import { gapFrame, messageFramePieces, pingFrame, readyFrame } from '../protocol/event-stream.ts';
import { formatPosition } from '../protocol/frame.ts';
import type { Cursor, CursorKeeper } from './cursor-keeper.ts';
import { createFrameMemory } from './frame-memory.ts';
import type { Metrics } from './metrics.ts';

const PAUSE_BYTES = 1024 * 1024;
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Bodies of at least this size are written in pieces. */
const LARGE_BYTES = 1024 * 1024;
/** Heartbeats are spread over the interval in this many slots. */
const SLOTS = 10;
const END_WITHIN_MS = 3_000;
const PING = Buffer.from(pingFrame);
/** How often a heartbeat includes the position; without it a quiet reader's position would expire. */
const SEND_POSITION_MS = 10 * 60_000;

type EndReason = 'client' | 'slow' | 'engine' | 'shutdown' | 'taken-over';

export type Subscriber = {
  readonly socket: Socket;
  readonly channel: string;
  readonly raw: boolean;
  /** The key by which the limits count it. */
  readonly address: string;
  /** Null for an unnamed subscriber. */
  readonly cursor: Cursor | null;
  /** The reader itself reports its position; sending proves nothing. */
  readonly acknowledges: boolean;
  follower: Follower | null;
  /** The head of the answer, until it is sent: together with `ready`, or with a heartbeat before that. */
  head: string | null;
  /** Position of the last written frame, or where the stream started. */
  position: Position | null;
  /** The unwritten rest of a large delivery, and the delivery that it keeps in memory. */
  rest: { pieces: Iterator<Buffer, void>; stored: StoredDelivery } | null;
  /** Its share of the budget. */
  counted: number;
  corked: boolean;
  paused: boolean;
  awaitsDrain: boolean;
  reason: EndReason;
  slot: number;
};

const nobody: ReadonlySet<Subscriber> = new Set();
const subscriberOf = Symbol('subscriber');
type StreamSocket = Socket & { [subscriberOf]?: Subscriber };

export type Subscribers = {
  /** Takes over the socket. Its follower is set right after. */
  add: (
    options: Pick<Subscriber, 'socket' | 'channel' | 'address' | 'raw' | 'cursor' | 'acknowledges' | 'head'>,
  ) => Subscriber;
  ready: (subscriber: Subscriber, at: Position) => void;
  /** False if the reader has enough for now. */
  deliver: (subscriber: Subscriber, stored: StoredDelivery) => boolean;
  gap: (subscriber: Subscriber, gap: Gap) => void;
  end: (subscriber: Subscriber, reason: EndReason) => void;
  of: (channel: string) => ReadonlySet<Subscriber>;
  /** Streams of one address. */
  ofAddress: (address: string) => number;
  count: () => number;
  /** Unsent bytes of all readers. */
  unsentBytes: () => number;
  /** Ends every stream with an id to resume from. */
  endAll: () => Promise<void>;
};

/** A socket carries one stream: requesting a second one on it violates the protocol. */
export function carriesStream(socket: Socket): boolean {
  return (socket as StreamSocket)[subscriberOf] !== undefined;
}

export function createSubscribers(options: {
  cursors: CursorKeeper;
  metrics: Metrics;
  pingMs: number;
  stallMs: number;
  /** The limit of unsent bytes for all readers together. */
  maxUnsentBytes: number;
}): Subscribers {
  const { cursors, metrics, stallMs, maxUnsentBytes } = options;
  const slots = Array.from({ length: SLOTS }, () => new Set<Subscriber>());
  const byChannel = new Map<string, Set<Subscriber>>();
  const byAddress = new Map<string, number>();
  /** Those with unsent data, longest waiting first. */
  const waiting = new Set<Subscriber>();
  let unsentBytes = 0;
  const unsent: Subscriber[] = [];
  const frames = createFrameMemory();
  let open = 0;
  const roundsUntilPosition = Math.max(1, Math.round(SEND_POSITION_MS / options.pingMs));
  let nextSlot = 0;
  let tick = 0;

  const timer = setInterval(() => {
    tick += 1;
    const withPosition = Math.floor(tick / SLOTS) % roundsUntilPosition === 0;
    for (const subscriber of slots[tick % SLOTS] ?? []) ping(subscriber, withPosition);
  }, options.pingMs / SLOTS).unref();

  /** A reader that has not read the last frames yet needs no heartbeat. */
  function ping(subscriber: Subscriber, withPosition: boolean): void {
    if (subscriber.socket.writableLength > 0 || subscriber.rest !== null) return;
    sendHead(subscriber);
    const at = withPosition ? followedTo(subscriber) : null;
    if (at === null) return void subscriber.socket.write(PING);
    subscriber.position = at;
    subscriber.socket.write(`event: ping\ndata: {"position":"${formatPosition(at)}"}\n\n`);
    drained(subscriber);
  }

  /** The engine may need time to find where the stream starts; the reader gets the head before that. */
  function sendHead(subscriber: Subscriber): void {
    if (subscriber.head !== null) subscriber.socket.write(subscriber.head, 'latin1');
    subscriber.head = null;
  }

  /** Everything up to here was written, or belongs to other channels. */
  function followedTo(subscriber: Subscriber): Position | null {
    return subscriber.follower?.position() ?? subscriber.position;
  }

  /** What was written in one turn of the event loop is sent in one call. */
  function sendUnsent(): void {
    for (const subscriber of unsent) {
      subscriber.corked = false;
      subscriber.socket.uncork();
      // What was written to a destroyed socket was not sent.
      if (subscriber.socket.destroyed) continue;
      if (subscriber.socket.writableLength === 0) drained(subscriber);
      else awaitDrain(subscriber);
      count(subscriber);
    }
    unsent.length = 0;
    frames.forget();
    keepWithinBudget();
  }

  function count(subscriber: Subscriber): void {
    const { socket, rest, counted } = subscriber;
    const bytes = socket.destroyed ? 0 : socket.writableLength + (rest?.stored.delivery.body.length ?? 0);
    unsentBytes += bytes - counted;
    subscriber.counted = bytes;
    if (bytes === 0) waiting.delete(subscriber);
    else waiting.add(subscriber);
  }

  function keepWithinBudget(): void {
    while (unsentBytes > maxUnsentBytes) {
      let most: Subscriber | undefined;
      for (const one of waiting) if (most === undefined || one.counted > most.counted) most = one;
      if (most === undefined) return;
      end(most, 'slow');
      // Its socket may already be gone, without an event so far.
      most.socket.destroy();
      count(most);
    }
  }

  /** Everything written has been sent by this process. */
  function drained(subscriber: Subscriber): void {
    const { cursor, position, rest } = subscriber;
    if (cursor === null || rest !== null || subscriber.acknowledges || cursor.at === position) return;
    cursor.at = position;
    cursors.moved(cursor);
  }

  /** Text is ASCII. */
  function write(subscriber: Subscriber, frame: Buffer | string): void {
    if (!subscriber.corked) {
      subscriber.corked = true;
      subscriber.socket.cork();
      if (unsent.push(subscriber) === 1) process.nextTick(sendUnsent);
    }
    subscriber.socket.write(frame, 'latin1');
  }

  /** The listener exists only while data is waiting: an idle subscriber has one listener. */
  function awaitDrain(subscriber: Subscriber): void {
    if (subscriber.awaitsDrain) return;
    subscriber.awaitsDrain = true;
    subscriber.socket.once('drain', onDrain);
  }

  function onDrain(this: StreamSocket): void {
    const subscriber = this[subscriberOf];
    if (subscriber === undefined) return;
    subscriber.awaitsDrain = false;
    drained(subscriber);
    count(subscriber);
    if (!subscriber.paused || !writeRest(subscriber)) return;
    subscriber.paused = false;
    this.setTimeout(0, onTimeout);
    subscriber.follower?.resume();
  }

  /** False while there is more to write than the reader accepts now. */
  function writeRest(subscriber: Subscriber): boolean {
    const { rest, socket } = subscriber;
    if (rest === null) return true;
    while (socket.writableLength < PAUSE_BYTES) {
      const { done, value } = rest.pieces.next();
      if (done === true) {
        subscriber.rest = null;
        subscriber.position = rest.stored.position;
        metrics.counts.delivered += 1;
        return socket.writableLength < PAUSE_BYTES;
      }
      metrics.bytes.delivered += value.length;
      write(subscriber, value);
    }
    awaitDrain(subscriber);
    return false;
  }

  /** Pauses it until it has read what is waiting; a reader that reads nothing is disconnected. */
  function pause(subscriber: Subscriber): false {
    subscriber.paused = true;
    subscriber.socket.setTimeout(stallMs, onTimeout);
    awaitDrain(subscriber);
    count(subscriber);
    // Not here: a follower is in the middle of delivering.
    if (unsentBytes > maxUnsentBytes) process.nextTick(keepWithinBudget);
    return false;
  }

  function onClose(this: StreamSocket): void {
    const subscriber = this[subscriberOf];
    if (subscriber === undefined) return;
    delete this[subscriberOf];
    forget(subscriber);
  }

  function forget(subscriber: Subscriber): void {
    open -= 1;
    subscriber.rest = null;
    count(subscriber);
    const left = (byAddress.get(subscriber.address) ?? 1) - 1;
    if (left === 0) byAddress.delete(subscriber.address);
    else byAddress.set(subscriber.address, left);
    subscriber.follower?.close();
    slots[subscriber.slot]?.delete(subscriber);
    const others = byChannel.get(subscriber.channel);
    others?.delete(subscriber);
    if (others?.size === 0) byChannel.delete(subscriber.channel);
    if (subscriber.cursor !== null) {
      if (subscriber.reason === 'taken-over') cursors.drop(subscriber.cursor);
      else cursors.release(subscriber.cursor);
    }
    metrics.ended.add({ reason: subscriber.reason });
  }

  function end(subscriber: Subscriber, reason: EndReason): void {
    if (subscriber.reason !== 'client' || subscriber.socket.destroyed) return;
    subscriber.reason = reason;
    const isWhole = subscriber.rest === null;
    if (isWhole) subscriber.position = followedTo(subscriber);
    subscriber.follower?.close();
    // Nothing else can be written in the middle of a delivery: the reader drops the part that it has, and resumes.
    if (reason === 'slow' || reason === 'taken-over' || !isWhole) subscriber.socket.destroy();
    else endGently(subscriber);
  }

  /** The same name again is the same reader, back before its old connection was detected as dead. */
  function takeOver(others: ReadonlySet<Subscriber>, cursor: Cursor): void {
    for (const other of others) if (other.cursor?.subscriber === cursor.subscriber) end(other, 'taken-over');
  }

  function endGently(subscriber: Subscriber): void {
    const { socket, position } = subscriber;
    sendHead(subscriber);
    if (position !== null) write(subscriber, `id: ${formatPosition(position)}\nevent: end\ndata: {}\n\n`);
    socket.setTimeout(END_WITHIN_MS, onTimeout);
    socket.destroySoon();
  }

  const total = (): number => open;

  return {
    add({ socket, channel, address, raw, cursor, acknowledges, head }) {
      const slot = nextSlot;
      nextSlot = (nextSlot + 1) % SLOTS;
      const subscriber: Subscriber = {
        socket,
        channel,
        address,
        raw,
        cursor,
        acknowledges,
        follower: null,
        head,
        position: null,
        rest: null,
        counted: 0,
        corked: false,
        paused: false,
        awaitsDrain: false,
        reason: 'client',
        slot,
      };
      (socket as StreamSocket)[subscriberOf] = subscriber;
      socket.on('close', onClose);
      slots[slot]?.add(subscriber);
      const others = byChannel.get(channel) ?? new Set<Subscriber>();
      if (cursor !== null) takeOver(others, cursor);
      byChannel.set(channel, others.add(subscriber));
      byAddress.set(address, (byAddress.get(address) ?? 0) + 1);
      open += 1;
      return subscriber;
    },
    ready(subscriber, at) {
      subscriber.position = at;
      const { cursor } = subscriber;
      if (cursor !== null && cursor.at === null) {
        // From now on nothing is missed, even if nothing arrives before the next cut.
        cursor.at = at;
        cursors.begin(cursor);
        if (subscriber.acknowledges) cursor.at = null;
      }
      write(subscriber, `${subscriber.head ?? ''}${readyFrame(at, retryMs())}`);
      subscriber.head = null;
    },
    deliver(subscriber, stored) {
      const { socket } = subscriber;
      if (socket.destroyed || subscriber.reason !== 'client') return false;
      if (socket.writableLength > MAX_WAITING_BYTES) {
        end(subscriber, 'slow');
        return false;
      }
      if (stored.delivery.body.length >= LARGE_BYTES) {
        subscriber.rest = { pieces: messageFramePieces(stored, subscriber.raw), stored };
        return writeRest(subscriber) || pause(subscriber);
      }
      const frame = frames.of(stored, subscriber.raw);
      write(subscriber, frame);
      subscriber.position = stored.position;
      metrics.counts.delivered += 1;
      metrics.bytes.delivered += frame.length;
      return socket.writableLength < PAUSE_BYTES || pause(subscriber);
    },
    gap(subscriber, gap) {
      metrics.counts.gaps += 1;
      write(subscriber, gapFrame(gap));
    },
    end,
    of: (channel) => byChannel.get(channel) ?? nobody,
    ofAddress: (address) => byAddress.get(address) ?? 0,
    count: total,
    unsentBytes: () => unsentBytes,
    async endAll() {
      clearInterval(timer);
      for (const slot of slots) for (const subscriber of slot) end(subscriber, 'shutdown');
      const deadline = performance.now() + END_WITHIN_MS;
      while (total() > 0 && performance.now() < deadline) await sleep(10);
      for (const slot of slots) for (const { socket } of slot) socket.destroy();
      await cursors.settle();
    },
  };
}

/** Spreads the reconnects of readers that were cut off together. */
function retryMs(): number {
  return 500 + Math.floor(Math.random() * 1000);
}

/** It read nothing while data was waiting for it. */
function onTimeout(this: StreamSocket): void {
  const subscriber = this[subscriberOf];
  if (subscriber?.reason === 'client') subscriber.reason = 'slow';
  this.destroy();
}
