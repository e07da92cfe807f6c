// Waits until a count that only grows has reached a number.

export type Progress = {
  /** Rejects if it is closed before that. */
  reached: (count: number) => Promise<void>;
  reach: (count: number) => void;
  close: () => void;
};

export function createProgress(start: number, wordsWhenClosed: string): Progress {
  const waiting = new Set<{ count: number; resolve: () => void; reject: (error: Error) => void }>();
  let current = start;
  let closed = false;
  return {
    reached(count) {
      if (count <= current) return Promise.resolve();
      if (closed) return Promise.reject(new Error(wordsWhenClosed));
      return new Promise((resolve, reject) => waiting.add({ count, resolve, reject }));
    },
    reach(count) {
      current = count;
      for (const waiter of waiting) {
        if (waiter.count > count) continue;
        waiting.delete(waiter);
        waiter.resolve();
      }
    },
    close() {
      closed = true;
      for (const { reject } of waiting) reject(new Error(wordsWhenClosed));
      waiting.clear();
    },
  };
}
