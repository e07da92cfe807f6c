// Answers kept for a while, at most so many; the oldest goes first.

export type BoundedCache<Value> = {
  get: (key: string) => Value | undefined;
  set: (key: string, value: Value) => void;
  size: () => number;
};

export function createBoundedCache<Value>({
  now,
  lifetimeMs,
  most,
}: {
  now: () => number;
  lifetimeMs: number;
  most: number;
}): BoundedCache<Value> {
  const entries = new Map<string, { value: Value; until: number }>();
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (now() < entry.until) return entry.value;
      entries.delete(key);
      return undefined;
    },
    set(key, value) {
      entries.delete(key);
      for (const oldest of entries.keys()) {
        if (entries.size < most) break;
        entries.delete(oldest);
      }
      entries.set(key, { value, until: now() + lifetimeMs });
    },
    size: () => entries.size,
  };
}
