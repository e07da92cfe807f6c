// The newest live deliveries of a channel, kept only while some follower reads the backlog: when it has come
// near enough, it goes on from here instead of chasing the stream for ever. All of them share one budget.
import type { StoredDelivery } from './engine.ts';

/** `previous` is the channel's delivery before this one. */
type LiveDelivery = { seq: number; previous: number; stored: StoredDelivery };

export type KeepBudget = { bytesLeft: number };

const MAX_DELIVERIES = 512;
const MAX_BYTES = 2 * 1024 * 1024;

export type LiveRing = {
  push: (live: LiveDelivery) => void;
  /** Everything after the sequence; undefined when the ring does not reach back so far. */
  after: (seq: number) => LiveDelivery[] | undefined;
  clear: () => void;
};

export function createLiveRing(budget: KeepBudget): LiveRing {
  let kept: LiveDelivery[] = [];
  let bytes = 0;

  function drop(count: number): void {
    for (const { stored } of kept.splice(0, count)) {
      bytes -= stored.delivery.body.length;
      budget.bytesLeft += stored.delivery.body.length;
    }
  }

  return {
    push({ seq, previous, stored }) {
      if (kept.length > 0 && kept.at(-1)?.seq !== previous) drop(kept.length);
      const size = stored.delivery.body.length;
      if (size > budget.bytesLeft || size > MAX_BYTES) return drop(kept.length);
      // A view would keep the whole piece that came from the socket.
      const copy = { ...stored, delivery: { ...stored.delivery, body: Buffer.from(stored.delivery.body) } };
      kept.push({ seq, previous, stored: copy });
      bytes += size;
      budget.bytesLeft -= size;
      while (kept.length > MAX_DELIVERIES || bytes > MAX_BYTES) drop(1);
    },
    after(seq) {
      const newest = kept.at(-1);
      if (newest === undefined || (kept[0]?.previous ?? 0) > seq) return undefined;
      return newest.seq <= seq ? [] : kept.slice(kept.findIndex((live) => live.seq > seq));
    },
    clear: () => drop(kept.length),
  };
}
