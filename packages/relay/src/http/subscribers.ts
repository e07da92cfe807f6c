// All streams of this process. An idle subscriber costs its socket and one small record: one timer sends the
// heartbeats of all, the listeners are shared, and frames are written to the socket itself.
//
// A stream is close-delimited (`Connection: close`, no chunks), so that a frame goes out as it is. A reader
// that is slower than its channel is paused at 1 MiB waiting for it, and reads on from the engine when it has
// caught up. A large delivery is written in pieces, as fast as the reader takes them. What waits for all readers
// together has one budget: beyond it those for whom most waits are disconnected. So is one that takes nothing for
// a while. It loses nothing, because the last id that it has is where it resumes.
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
/** Bodies from this size on are written in pieces. */
const LARGE_BYTES = 1024 * 1024;
/** Heartbeats are spread over the interval, in so many shares. */
const SLOTS = 10;
const END_WITHIN_MS = 3_000;
const PING = Buffer.from(pingFrame);
/** So often a heartbeat also tells the position, or a quiet reader's would grow older than what is kept. */
const TELL_POSITION_MS = 10 * 60_000;

type EndReason = 'client' | 'slow' | 'engine' | 'shutdown' | 'taken-over';

export type Subscriber = {
  readonly socket: Socket;
  readonly channel: string;
  readonly raw: boolean;
  /** What the limits count it by. */
  readonly address: string;
  /** Null for one without a name. */
  readonly cursor: Cursor | null;
  /** The reader itself says how far it is; what was sent proves nothing. */
  readonly acknowledges: boolean;
  follower: Follower | null;
  /** The head of the answer, until it is sent: together with `ready`, or with a heartbeat before that. */
  head: string | null;
  /** Of the last frame that was written, or where the stream began. */
  position: Position | null;
  /** What is still to be written of a large delivery, and how much its body keeps in memory. */
  rest: { pieces: Iterator<Buffer, void>; stored: StoredDelivery } | null;
  /** What it has of the budget. */
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
  /** False when the reader has enough for now. */
  deliver: (subscriber: Subscriber, stored: StoredDelivery) => boolean;
  gap: (subscriber: Subscriber, gap: Gap) => void;
  end: (subscriber: Subscriber, reason: EndReason) => void;
  of: (channel: string) => ReadonlySet<Subscriber>;
  /** Streams of one address. */
  ofAddress: (address: string) => number;
  count: () => number;
  /** Bytes that wait for all readers. */
  unsentBytes: () => number;
  /** Ends every stream with an id to resume from. */
  endAll: () => Promise<void>;
};

/** A socket carries one stream: whoever asks for a second one on it breaks the protocol. */
export function carriesStream(socket: Socket): boolean {
  return (socket as StreamSocket)[subscriberOf] !== undefined;
}

export function createSubscribers(options: {
  cursors: CursorKeeper;
  metrics: Metrics;
  pingMs: number;
  stallMs: number;
  /** What may wait for all readers together. */
  maxUnsentBytes: number;
}): Subscribers {
  const { cursors, metrics, stallMs, maxUnsentBytes } = options;
  const slots = Array.from({ length: SLOTS }, () => new Set<Subscriber>());
  const byChannel = new Map<string, Set<Subscriber>>();
  const byAddress = new Map<string, number>();
  /** Those for whom something waits, longest first. */
  const waiting = new Set<Subscriber>();
  let unsentBytes = 0;
  const unsent: Subscriber[] = [];
  const frames = createFrameMemory();
  let open = 0;
  const roundsUntilPosition = Math.max(1, Math.round(TELL_POSITION_MS / options.pingMs));
  let nextSlot = 0;
  let turn = 0;

  const timer = setInterval(() => {
    turn += 1;
    const tell = Math.floor(turn / SLOTS) % roundsUntilPosition === 0;
    for (const subscriber of slots[turn % SLOTS] ?? []) ping(subscriber, tell);
  }, options.pingMs / SLOTS).unref();

  /** One that has not taken the last frames yet needs no heartbeat to know that the relay lives. */
  function ping(subscriber: Subscriber, tell: boolean): void {
    if (subscriber.socket.writableLength > 0 || subscriber.rest !== null) return;
    sendHead(subscriber);
    const at = tell ? followedTo(subscriber) : null;
    if (at === null) return void subscriber.socket.write(PING);
    subscriber.position = at;
    subscriber.socket.write(`event: ping\ndata: {"position":"${formatPosition(at)}"}\n\n`);
    drained(subscriber);
  }

  /** The engine may take its time to say where the stream begins; the reader is told before that it has one. */
  function sendHead(subscriber: Subscriber): void {
    if (subscriber.head !== null) subscriber.socket.write(subscriber.head, 'latin1');
    subscriber.head = null;
  }

  /** Everything up to here was written, or does not concern this channel. */
  function followedTo(subscriber: Subscriber): Position | null {
    return subscriber.follower?.position() ?? subscriber.position;
  }

  /** What was written in one turn of the loop goes out in one call. */
  function sendUnsent(): void {
    for (const subscriber of unsent) {
      subscriber.corked = false;
      subscriber.socket.uncork();
      // What a destroyed socket was given has not left.
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
      // Its socket may be gone already, without the word having come.
      most.socket.destroy();
      count(most);
    }
  }

  /** Everything that was written has left this process. */
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

  /** Listened for only while something waits: an idle subscriber has one listener. */
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

  /** False while there is more to write than the reader takes now. */
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

  /** It is paused until it has taken what waits; one that takes nothing is disconnected. */
  function pause(subscriber: Subscriber): false {
    subscriber.paused = true;
    subscriber.socket.setTimeout(stallMs, onTimeout);
    awaitDrain(subscriber);
    count(subscriber);
    // Not here: a follower is in the middle of handing over.
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
    // In the middle of a delivery nothing else can be written: the reader drops what it has of it, and resumes.
    if (reason === 'slow' || reason === 'taken-over' || !isWhole) subscriber.socket.destroy();
    else endGently(subscriber);
  }

  /** The same name again is the same reader, back before its old connection was found to be dead. */
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
        // From now on nothing is missed, also if nothing comes before the next cut.
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

/** Readers that were cut off together do not all come back in the same moment. */
function retryMs(): number {
  return 500 + Math.floor(Math.random() * 1000);
}

/** It took nothing, although something waits for it. */
function onTimeout(this: StreamSocket): void {
  const subscriber = this[subscriberOf];
  if (subscriber?.reason === 'client') subscriber.reason = 'slow';
  this.destroy();
}
