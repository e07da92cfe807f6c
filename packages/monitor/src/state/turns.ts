// Lets so many in at once; others wait in order, up to a bound, until it is their turn or their signal ends
// the waiting.
import { Failure } from '../errors.ts';

export type Turns = {
  /** Resolves, when it is one's turn, with how to end it. */
  next: (signal?: AbortSignal) => Promise<() => void>;
};

export function createTurns({ mostAtOnce, mostWaiting }: { mostAtOnce: number; mostWaiting: number }): Turns {
  let inside = 0;
  const waiting = new Set<() => void>();

  function enter(): () => void {
    inside += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside -= 1;
      const [first] = waiting;
      first?.();
    };
  }

  return {
    next(signal) {
      if (inside < mostAtOnce) return Promise.resolve(enter());
      if (waiting.size >= mostWaiting) {
        return Promise.reject(new Failure('busy', 'Too many past moments are being asked for at once.'));
      }
      return new Promise((resolve, reject) => {
        const admit = (): void => {
          leave();
          resolve(enter());
        };
        const giveUp = (): void => {
          leave();
          reject(signal?.reason as Error);
        };
        const leave = (): void => {
          waiting.delete(admit);
          signal?.removeEventListener('abort', giveUp);
        };
        waiting.add(admit);
        signal?.addEventListener('abort', giveUp);
      });
    },
  };
}
