// Answers for a short while, within bounds of number and size; the oldest go first.
import type { BackendAnswer } from './backend-call.ts';

export type AnswerCache = {
  find: (key: string) => BackendAnswer | undefined;
  keep: (key: string, answer: BackendAnswer) => void;
};

export function createAnswerCache(options: {
  keepMs: number;
  mostEntries: number;
  mostBytes: number;
  now: () => number;
}): AnswerCache {
  const { keepMs, mostEntries, mostBytes, now } = options;
  /** In the order of their age. */
  const entries = new Map<string, { answer: BackendAnswer; bytes: number; until: number }>();
  let bytes = 0;

  function remove(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  function removeOld(): void {
    for (const [key, { until }] of entries) {
      // A clock that was set back must not make an answer live for ever.
      if (until > now() && until <= now() + keepMs && entries.size <= mostEntries && bytes <= mostBytes)
        return;
      remove(key);
    }
  }

  return {
    find(key) {
      removeOld();
      return entries.get(key)?.answer;
    },
    keep(key, answer) {
      remove(key);
      const size = answer.body.length + key.length * 2;
      entries.set(key, { answer, bytes: size, until: now() + keepMs });
      bytes += size;
      removeOld();
    },
  };
}
