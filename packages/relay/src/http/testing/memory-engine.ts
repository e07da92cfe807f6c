// An engine in memory, for tests of the HTTP side: it stores, resumes, pauses, dedupes, trims, and fails on command.
import type {
  Channel,
  Delivery,
  Engine,
  Follower,
  Position,
  Records,
  StoredDelivery,
} from '../../engine/engine.ts';
import { EngineUnavailable } from '../../engine/engine.ts';

type Kept = {
  channel: Channel;
  deliveries: StoredDelivery[];
  seen: Map<string, Position>;
  trimmedTo: number;
};
type Reader = {
  channelId: string;
  /** The last sequence that was passed on. */
  at: number;
  paused: boolean;
  closed: boolean;
  pump: () => void;
  end: (reason: Error) => void;
};

export type MemoryEngine = Engine & {
  /** Makes publishing and lookups fail, as if no server answered. */
  goDown: () => void;
  comeUp: () => void;
  /** Forgets all but the newest few of a channel. */
  trim: (channelId: string, keep: number) => void;
  /** A new store: positions of the previous one mean nothing. */
  loseStore: () => void;
  /** Ends every follower, like a lost connection. */
  endFollowers: () => void;
  savedCursors: () => number;
  publishedWith: () => readonly { messageId: string | undefined; deadlineMs: number }[];
  deliveries: (channelId: string) => readonly Delivery[];
};

export function createMemoryEngine(unavailable: () => Error): MemoryEngine {
  const channels = new Map<string, Kept>();
  const cursors = new Map<string, Map<string, { position: Position; at: number }>>();
  const readers = new Set<Reader>();
  const published: { messageId: string | undefined; deadlineMs: number }[] = [];
  let life = 1;
  let seq = 0;
  let up = true;
  let saved = 0;
  const epoch = (): string => `m${life}`;
  const must = (): void => {
    if (!up) throw unavailable();
  };
  const keptOf = (id: string): Kept => {
    const kept = channels.get(id);
    if (kept === undefined) throw new Error(`no channel ${id}`);
    return kept;
  };

  function begin(kept: Kept, after: Position | 'new' | 'oldest') {
    const newest = kept.deliveries.at(-1)?.position.seq ?? kept.trimmedTo;
    if (after === 'new') return { at: newest, gap: false };
    if (after === 'oldest') return { at: kept.trimmedTo, gap: false };
    if (after.epoch !== epoch()) return { at: kept.trimmedTo, gap: true };
    return { at: Math.max(after.seq, kept.trimmedTo), gap: after.seq < kept.trimmedTo };
  }

  return {
    async createChannel(channel) {
      must();
      channels.set(channel.id, { channel, deliveries: [], seen: new Map(), trimmedTo: 0 });
    },
    async findChannel(id) {
      must();
      return channels.get(id)?.channel;
    },
    async publish(channelId, delivery, options) {
      published.push(options);
      must();
      const kept = keptOf(channelId);
      const id = options.messageId && `${options.messageId}:${Buffer.from(delivery.body).toString('base64')}`;
      const before = id === undefined ? undefined : kept.seen.get(id);
      if (before !== undefined) return { position: before, duplicate: true };
      seq += 1;
      const position = { epoch: epoch(), seq };
      kept.deliveries.push({ position, delivery });
      if (id !== undefined) kept.seen.set(id, position);
      for (const reader of readers) if (reader.channelId === channelId) reader.pump();
      return { position, duplicate: false };
    },
    shardOf: () => 0,
    follow(channelId, { after, onReady, onDelivery, onGap, onEnd }): Follower {
      const kept = keptOf(channelId);
      const start = begin(kept, after);
      const reader: Reader = {
        channelId,
        at: start.at,
        paused: true,
        closed: false,
        pump() {
          if (reader.paused) return;
          for (const stored of kept.deliveries) {
            if (reader.closed || stored.position.seq <= reader.at) continue;
            reader.at = stored.position.seq;
            if (!onDelivery(stored)) {
              reader.paused = true;
              return;
            }
          }
        },
        end: onEnd,
      };
      readers.add(reader);
      queueMicrotask(() => {
        if (reader.closed) return;
        onReady({ epoch: epoch(), seq: start.at });
        if (start.gap && typeof after === 'object')
          onGap({ requested: after, oldest: kept.deliveries[0]?.position ?? null });
        reader.paused = false;
        reader.pump();
      });
      return {
        resume() {
          if (reader.closed) return;
          reader.paused = false;
          reader.pump();
        },
        close() {
          reader.closed = true;
          readers.delete(reader);
        },
        position: () => ({ epoch: epoch(), seq: reader.paused ? reader.at : Math.max(reader.at, seq) }),
      };
    },
    async saveCursor(channelId, subscriber, position) {
      must();
      saved += 1;
      const named = cursors.get(channelId) ?? new Map<string, { position: Position; at: number }>();
      cursors.set(channelId, named.set(subscriber, { position, at: Date.now() }));
    },
    async cursor(channelId, subscriber) {
      must();
      const cursor = cursors.get(channelId)?.get(subscriber);
      return cursor === undefined ? undefined : { subscriber, ...cursor };
    },
    async cursors(channelId) {
      must();
      return [...(cursors.get(channelId) ?? [])].map(([subscriber, cursor]) => ({ subscriber, ...cursor }));
    },
    async status(channelId) {
      must();
      const { deliveries } = keptOf(channelId);
      return {
        stored: deliveries.length,
        bytes: deliveries.reduce((sum, { delivery }) => sum + delivery.body.length, 0),
        oldest: deliveries[0]?.position ?? null,
        newest: deliveries.at(-1)?.position ?? null,
      };
    },
    async countAfter(channelId, position) {
      must();
      const { deliveries } = keptOf(channelId);
      return deliveries.filter((stored) => position.epoch !== epoch() || stored.position.seq > position.seq)
        .length;
    },
    records: noRecords,
    health: () => ({
      connected: up,
      server: 'memory',
      since: 0,
      reason: up ? null : 'no server answers',
      streams: 1,
      behind: [],
    }),
    serverWarnings: async () => [],
    async close() {
      readers.clear();
    },
    goDown: () => void (up = false),
    comeUp: () => void (up = true),
    trim(channelId, keep) {
      const kept = keptOf(channelId);
      const dropped = kept.deliveries.splice(0, Math.max(0, kept.deliveries.length - keep));
      kept.trimmedTo = dropped.at(-1)?.position.seq ?? kept.trimmedTo;
    },
    loseStore() {
      life += 1;
      for (const kept of channels.values()) Object.assign(kept, { deliveries: [], trimmedTo: 0 });
    },
    endFollowers() {
      for (const reader of readers) reader.end(unavailable());
    },
    savedCursors: () => saved,
    publishedWith: () => published,
    deliveries: (channelId) => keptOf(channelId).deliveries.map(({ delivery }) => delivery),
  };
}

const noRecords: Records = {
  last: () => Promise.resolve(undefined),
  count: () => Promise.resolve(0),
  forget: () => Promise.resolve(),
  put: () => Promise.reject(new EngineUnavailable('an engine in memory has no records')),
  follow: () => ({ resume: () => undefined, close: () => undefined }),
  close: () => undefined,
};
