// Values kept for a limited time, number and size; the oldest are dropped first.

export type Cache<Value> = {
  get: (key: string) => Value | undefined;
  set: (key: string, value: Value) => void;
  size: () => number;
};

export function createCache<Value>({
  now,
  lifetimeMs,
  most,
  mostBytes = Number.POSITIVE_INFINITY,
  bytesOf = () => 0,
}: {
  now: () => number;
  lifetimeMs: number;
  most: number;
  mostBytes?: number;
  bytesOf?: (key: string, value: Value) => number;
}): Cache<Value> {
  /** In the order of their age. */
  const entries = new Map<string, { value: Value; bytes: number; until: number }>();
  let bytes = 0;

  function remove(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  function removeOld(): void {
    for (const [key, { until }] of entries) {
      // A clock that was set back must not keep a value forever.
      const isFresh = until > now() && until <= now() + lifetimeMs;
      if (isFresh && entries.size <= most && bytes <= mostBytes) return;
      remove(key);
    }
  }

  return {
    get(key) {
      removeOld();
      return entries.get(key)?.value;
    },
    set(key, value) {
      remove(key);
      const size = bytesOf(key, value);
      entries.set(key, { value, bytes: size, until: now() + lifetimeMs });
      bytes += size;
      removeOld();
    },
    size: () => entries.size,
  };
}
