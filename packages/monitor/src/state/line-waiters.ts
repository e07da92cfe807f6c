// Those who wait until a line is folded.
export type LineWaiters = {
  reached: (seq: number) => Promise<void>;
  /** Everything up to this line is folded. */
  reach: (seq: number) => void;
  close: () => void;
};

export function createLineWaiters(): LineWaiters {
  const waiting = new Set<{ seq: number; resolve: () => void; reject: (error: Error) => void }>();
  /** Below 0 until it is known where the folding starts. */
  let reachedSeq = -1;
  let closed = false;

  return {
    reached(seq) {
      if (seq <= reachedSeq) return Promise.resolve();
      if (closed) return Promise.reject(new Error('The state is not followed any more'));
      return new Promise((resolve, reject) => waiting.add({ seq, resolve, reject }));
    },
    reach(seq) {
      reachedSeq = seq;
      for (const waiter of waiting) {
        if (waiter.seq > seq) continue;
        waiting.delete(waiter);
        waiter.resolve();
      }
    },
    close() {
      closed = true;
      for (const { reject } of waiting) reject(new Error('The state is not followed any more'));
      waiting.clear();
    },
  };
}
