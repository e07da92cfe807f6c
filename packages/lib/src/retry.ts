// Retries failed work.
import { messageOf } from './errors.ts';
import { pause } from './timeout.ts';

export type Retries = {
  /** The result, once the work succeeds; undefined if the signal aborts first. */
  untilItWorks: <T>(work: () => Promise<T>) => Promise<T | undefined>;
  /** Why the work fails now; null while it does not. */
  failing: () => string | null;
  /** The work that is under way has got somewhere. */
  noteProgress: () => void;
};

/** `onFailure` is called with the first of the failures in a row. */
export function createRetries({
  pauseMs,
  signal,
  onFailure,
}: {
  pauseMs: number;
  signal: AbortSignal;
  onFailure: (error: unknown) => void;
}): Retries {
  let failing: string | null = null;
  return {
    async untilItWorks(work) {
      while (!signal.aborted) {
        try {
          const result = await work();
          failing = null;
          return result;
        } catch (error) {
          if (failing === null) onFailure(error);
          failing = messageOf(error);
          await pause(pauseMs, signal);
        }
      }
      return undefined;
    },
    failing: () => failing,
    noteProgress() {
      failing = null;
    },
  };
}
