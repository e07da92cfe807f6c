// Holds deliveries on the relay's own disk while a stream has no leader, so their senders are answered in time.
// Channels of one shard share a stream, so each shard is in one of two modes:
//
// - `direct`: a delivery goes to the engine. Left for `holding` when the engine does not acknowledge one within
//   `holdAfterMs`, or a quarter of the sender's timeout, and the file accepts it.
// - `holding`: deliveries are appended to the file, synced, and answered as held. Meanwhile those in the file are given
//   to the engine, with the ids under which they were first sent. Left for `direct` when all of them are stored;
//   a delivery that was not written by then goes to the engine.
//
// The file is in one of two modes for all shards:
//
// - `taking`.
// - `refusing`: entered when it is full, when its oldest delivery is older than `maxAgeMs`, or when a write failed. In a
//   `direct` shard the engine gets the sender's whole timeout; in a `holding` shard a delivery is refused at once,
//   because it must not overtake those in the file. Left when the oldest are stored; after a failed write when all are.
//
// Order: deliveries are written in batches, and a batch is answered when it is synced. So the deliveries of one batch
// were sent concurrently and may be stored in any order; the next batch waits until they are stored.
//
// A crash leaves the file as it was: the next process with the same folder stores what is in it.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@svc/lib/errors';
import { createLimit, type Limit } from '@svc/lib/limit';
import type { Logger } from 'pino';
import { type Delivery, type Engine, EngineUnavailable, type Published } from '../engine/engine.ts';

import { PublishRefused } from '../engine/publisher.ts';
import { type Entry, openSpillFile } from './spill-file.ts';

export type Spilled = { spilled: true };

export type Spill = {
  /** Like the engine's. A delivery that is on this relay's disk is `spilled`: it has no position yet. */
  publish: (
    channelId: string,
    delivery: Delivery,
    options: { messageId: string | undefined; deadlineMs: number },
  ) => Promise<Published | Spilled>;
  state: () => SpillState;
  /** Waits up to `withinMs` until everything is stored. The rest stays in the file. */
  close: (withinMs: number) => Promise<void>;
};

type SpillState = {
  /** Deliveries that were held since the process started. */
  total: number;
  /** Deliveries that are not stored yet, the bytes of the file, and when the oldest of them was written. */
  waiting: number;
  bytes: number;
  oldestAt: number | null;
  /** Why it accepts nothing at the moment. */
  refusing: string | null;
};

type Options = {
  folder: string;
  maxBytes: number;
  engine: Pick<Engine, 'publish' | 'shardOf'>;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  timing?: Partial<typeof usualTiming>;
  now?: () => number;
  openFile?: Parameters<typeof openSpillFile>[2];
};

const usualTiming = {
  holdAfterMs: 2000,
  /** How often a batch is written; less often while batches take longer to store. */
  everyMs: 100,
  /** Well below the 5 minutes for which a stream remembers stored ids. */
  maxAgeMs: 120_000,
  retryMs: 500,
};
/** Share of the sender's timeout; the rest is for the disk, or for the engine again. */
const HOLD_AFTER_SHARE = 0.25;
const SLOWEST_BATCHES_MS = 1000;
const BATCH_BYTES = 8 * 1024 * 1024;
/** Within one batch, so their bytes are limited too. */
const STORED_AT_ONCE = 512;
const STORED_WITHIN_MS = 10_000;

type Post = {
  shard: number;
  channelId: string;
  messageId: string;
  delivery: Delivery;
  /** When its sender gives up. */
  deadline: number;
};
type Waiting = Post & PromiseWithResolvers<Published | Spilled>;
type Shard = { batches: Entry[][]; limit: Limit; storing: boolean };

export async function openSpill(options: Options): Promise<Spill> {
  const { folder, maxBytes, engine, logger, now: clock = Date.now } = options;
  const { holdAfterMs, everyMs, maxAgeMs, retryMs } = { ...usualTiming, ...options.timing };
  const file = await openSpillFile(folder, logger, options.openFile);
  /** The shards in `holding`. */
  const shards = new Map<number, Shard>();
  /** One change of the file at a time. */
  const writing = createLimit(1);
  const own = randomBytes(9).toString('base64url');
  let unnamed = 0;
  let waiting: Waiting[] = [];
  /** In `waiting` and in the batch that is being written. */
  let unwrittenBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let batch = 0;
  let batchMs = 0;
  let entries = 0;
  let total = 0;
  let failed: string | null = null;
  let closed = false;

  function enter(shard: number): Shard {
    const entered = { batches: [], limit: createLimit(STORED_AT_ONCE), storing: false };
    shards.set(shard, entered);
    return entered;
  }

  function oldestAt(): number | null {
    const oldest = [...shards.values()].flatMap(({ batches }) => batches[0]?.[0]?.at ?? []);
    return oldest.length === 0 ? null : Math.min(...oldest);
  }

  function refusing(bytes: number): string | null {
    if (failed !== null) return failed;
    if (file.size() + unwrittenBytes + bytes > maxBytes) return 'the spill is full';
    const oldest = oldestAt();
    return oldest !== null && clock() - oldest > maxAgeMs
      ? 'the oldest delivery in the spill has waited too long'
      : null;
  }

  function untilDeadline({ channelId, delivery, messageId, deadline }: Post): Promise<Published> {
    const deadlineMs = Math.max(0, deadline - performance.now());
    return engine.publish(channelId, delivery, { messageId, deadlineMs });
  }

  async function take(post: Post): Promise<Published | Spilled> {
    if (shards.has(post.shard)) return hold(post);
    const now = performance.now();
    const soon = now + Math.min(holdAfterMs, (post.deadline - now) * HOLD_AFTER_SHARE);
    try {
      return await untilDeadline({ ...post, deadline: soon });
    } catch (error) {
      if (!isElection(error)) throw error;
    }
    return refusing(sizeOf(post)) === null || shards.has(post.shard) ? hold(post) : untilDeadline(post);
  }

  function hold(post: Post): Promise<Published | Spilled> {
    const why = refusing(sizeOf(post));
    if (why !== null) throw notSpilled(why);
    if (!shards.has(post.shard)) {
      enter(post.shard);
      logger.warn({ shard: post.shard }, 'a stream does not accept deliveries: holding them on disk');
    }
    const answer = Promise.withResolvers<Published | Spilled>();
    waiting.push({ ...post, ...answer });
    unwrittenBytes += sizeOf(post);
    writeSoon();
    return answer.promise;
  }

  function writeSoon(): void {
    const pauseMs = Math.min(SLOWEST_BATCHES_MS, Math.max(everyMs, 2 * batchMs));
    timer ??= setTimeout(() => void writing(writeBatch), pauseMs);
  }

  function takeWaiting(): Waiting[] {
    let bytes = 0;
    const most = waiting.findIndex((post) => (bytes += sizeOf(post)) > BATCH_BYTES);
    return waiting.splice(0, most < 0 ? waiting.length : Math.max(1, most));
  }

  async function writeBatch(): Promise<void> {
    timer = undefined;
    const posts = takeWaiting();
    try {
      if (closed) throw new Error('the relay is stopping');
      batch += 1;
      const at = clock();
      const written = await file.append(posts.map((post) => ({ ...post, batch, at })));
      for (const [shard, some] of Map.groupBy(written.entries(), ([index]) => posts[index]?.shard ?? 0))
        (shards.get(shard) ?? enter(shard)).batches.push(some.map(([, entry]) => entry));
      entries += posts.length;
      total += posts.length;
      for (const post of posts) post.resolve({ spilled: true });
    } catch (error) {
      failed = `the spill cannot be written: ${messageOf(error)}`;
      logger.error({ why: failed }, 'deliveries cannot be held');
      for (const post of posts) refuse(post, failed);
    }
    for (const post of posts) unwrittenBytes -= sizeOf(post);
    if (waiting.length > 0) writeSoon();
    for (const shard of shards.keys()) void storeSpilled(shard);
  }

  /** It must not overtake what is in the file. If that is empty, the engine has until the sender gives up. */
  function refuse(post: Waiting, why: string): void {
    const isFirst = (shards.get(post.shard)?.batches.length ?? 0) === 0;
    if (isFirst && !closed) post.resolve(untilDeadline(post));
    else post.reject(notSpilled(why));
  }

  /** Gives the batches of a shard to the engine, one after the other. */
  async function storeSpilled(number: number): Promise<void> {
    const shard = shards.get(number);
    if (shard === undefined || shard.storing || isBeingEntered(number, shard)) return;
    shard.storing = true;
    for (let some = shard.batches[0]; some !== undefined; some = shard.batches[0]) {
      const began = performance.now();
      await Promise.all(some.map((entry) => shard.limit(() => storeEntry(entry))));
      if (closed) return;
      batchMs = performance.now() - began;
      entries -= some.length;
      shard.batches.shift();
    }
    shards.delete(number);
    logger.info({ shard: number }, 'a stream accepts deliveries again');
    // They are not answered yet, and no longer need the disk.
    const late = waiting.filter((post) => post.shard === number);
    waiting = waiting.filter((post) => post.shard !== number);
    for (const post of late) {
      unwrittenBytes -= sizeOf(post);
      post.resolve(take(post));
    }
    await writing(emptyFile);
  }

  /** Its first delivery is not written yet. */
  function isBeingEntered(number: number, { batches }: Shard): boolean {
    return batches.length === 0 && waiting.some((post) => post.shard === number);
  }

  async function storeEntry(entry: Entry): Promise<void> {
    for (;;) {
      try {
        const { channelId, messageId, delivery } = await file.read(entry);
        await engine.publish(channelId, delivery, {
          messageId,
          deadlineMs: STORED_WITHIN_MS,
          firstSentAt: delivery.receivedAt,
        });
        return;
      } catch (error) {
        if (closed) return;
        if (!isElection(error))
          logger.error({ why: messageOf(error) }, 'a held delivery cannot be stored; retrying');
      }
      await sleep(retryMs);
      if (closed) return;
    }
  }

  async function emptyFile(): Promise<void> {
    if (entries > 0 || closed) return;
    try {
      await file.empty();
      failed = null;
    } catch (error) {
      failed = `the spill cannot be emptied: ${messageOf(error)}`;
      logger.error({ why: failed }, 'deliveries cannot be held');
    }
  }

  for (const { channelId, batch: itsBatch, entry } of file.found) {
    const number = engine.shardOf(channelId);
    const { batches } = shards.get(number) ?? enter(number);
    if (batches.at(-1) === undefined || itsBatch !== batch) batches.push([entry]);
    else batches.at(-1)?.push(entry);
    batch = itsBatch;
    entries += 1;
  }
  if (entries > 0) logger.warn({ deliveries: entries }, 'storing deliveries that an earlier process held');
  for (const shard of shards.keys()) void storeSpilled(shard);

  return {
    async publish(channelId, delivery, { messageId, deadlineMs }) {
      const deadline = performance.now() + deadlineMs;
      const shard = engine.shardOf(channelId);
      unnamed += messageId === undefined ? 1 : 0;
      const post = { shard, channelId, messageId: messageId ?? `${own}${unnamed}`, delivery, deadline };
      return take(post);
    },
    state: () => ({
      total,
      waiting: entries,
      bytes: file.size(),
      oldestAt: oldestAt(),
      refusing: refusing(0),
    }),
    async close(withinMs) {
      const end = performance.now() + withinMs;
      while (shards.size > 0 && performance.now() < end) await sleep(20);
      closed = true;
      clearTimeout(timer);
      for (const post of waiting) post.reject(notSpilled('the relay is stopping'));
      await writing(() => file.close());
      if (entries > 0)
        logger.warn(
          { deliveries: entries },
          'deliveries stay in the spill; start a relay with the same folder',
        );
    },
  };
}

const notSpilled = (why: string): Error => new EngineUnavailable(`not acknowledged, and not held: ${why}`);

/** Approximate, for the limit of the file. */
const sizeOf = ({ delivery }: Post): number => delivery.body.length + 1024;

/** Whether it may be temporary; a stream that refuses a message will refuse it again. */
function isElection(error: unknown): boolean {
  return error instanceof EngineUnavailable && !(error.cause instanceof PublishRefused);
}
