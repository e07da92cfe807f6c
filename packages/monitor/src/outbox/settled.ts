// Lets a caller wait for one effect, to say what came of it.
import type { OutboxRow } from './outbox-row.ts';

/** `unknown`: the outbox has no such effect, or not yet. */
export type Settled =
  | { state: 'done'; outcome: string }
  | { state: 'given-up'; error: string }
  | { state: 'pending'; attempts: number; lastError: string | null }
  | { state: 'unknown' };

export function settledOf(row: OutboxRow | null): Settled {
  if (row === null) return { state: 'unknown' };
  if (row.state === 'done') return { state: 'done', outcome: row.outcome ?? '' };
  if (row.state === 'given-up') return { state: 'given-up', error: row.lastError ?? '' };
  return { state: 'pending', attempts: row.attempts, lastError: row.lastError };
}

export type Waiters = {
  /** Resolves when `tell` is called for the key, or at the end of patience; then look again. */
  wait: (key: string, timeoutMs: number) => Promise<void>;
  tell: (key: string) => void;
  tellAll: () => void;
};

export function createWaiters(after: (milliseconds: number, call: () => void) => () => void): Waiters {
  const waiting = new Map<string, Set<() => void>>();

  function tell(key: string): void {
    for (const wake of waiting.get(key) ?? []) wake();
  }

  return {
    wait: (key, timeoutMs) =>
      new Promise((resolve) => {
        const wakes = waiting.get(key) ?? new Set();
        waiting.set(key, wakes);
        const wake = (): void => {
          cancel();
          wakes.delete(wake);
          if (wakes.size === 0 && waiting.get(key) === wakes) waiting.delete(key);
          resolve();
        };
        const cancel = after(timeoutMs, wake);
        wakes.add(wake);
      }),
    tell,
    tellAll() {
      for (const key of waiting.keys()) tell(key);
    },
  };
}
