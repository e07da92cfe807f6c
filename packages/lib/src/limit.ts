// Runs a fixed number of tasks at once; the others wait in order.

/** The signal ends only the wait: the waiting call rejects with its reason. */
export type Limit = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Nothing was started: the waiting limit is reached. */
export class TooManyWaiting extends Error {
  constructor() {
    super('too many are waiting');
    this.name = 'TooManyWaiting';
  }
}

export function createLimit(atOnce: number, mostWaiting = Number.POSITIVE_INFINITY): Limit {
  const waiting = new Set<() => void>();
  let running = 0;

  function wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.delete(enter);
        reject(signal?.reason as Error);
      };
      waiting.add(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  return async (work, signal) => {
    signal?.throwIfAborted();
    if (running < atOnce) running += 1;
    else if (waiting.size < mostWaiting) await wait(signal);
    else throw new TooManyWaiting();
    try {
      return await work();
    } finally {
      // The first in the queue takes over this slot.
      const [next] = waiting;
      if (next === undefined) running -= 1;
      else {
        waiting.delete(next);
        next();
      }
    }
  };
}
