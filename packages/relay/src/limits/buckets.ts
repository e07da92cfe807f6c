// Token buckets by key, in bounded memory. A bucket may be drawn below zero by one large amount; the debt has
// to be refilled before anything more is let through. A key that was not seen for long has a full bucket.

export type Rate = {
  /** Tokens that come back each second. */
  perSecond: number;
  /** How many may be used at once. */
  burst: number;
};

export type Buckets = {
  /** Milliseconds until the key may go on; 0 when it may now. Takes nothing. */
  wait: (key: string, now: number) => number;
  /** Takes the amount, whatever is left. */
  draw: (key: string, amount: number, now: number) => void;
  /** How many buckets are kept. */
  size: () => number;
};

type Bucket = { tokens: number; at: number };

/**
 * `createBuckets({ perSecond: 100, burst: 1000 }, 100_000)`: at most that many keys. They are kept in two
 * generations: when the younger is half of what is allowed, the older is dropped. That forgets the keys that
 * were not used for longest, without a list to be kept in order on every use.
 */
export function createBuckets({ perSecond, burst }: Rate, maxKeys: number): Buckets {
  const generation = Math.max(1, Math.floor(maxKeys / 2));
  let young = new Map<string, Bucket>();
  let old = new Map<string, Bucket>();

  /** The bucket as it is now; undefined when it is full. */
  function find(key: string, now: number): Bucket | undefined {
    const bucket = young.get(key) ?? old.get(key);
    if (bucket === undefined) return undefined;
    const gained = Math.max(0, now - bucket.at) * (perSecond / 1000);
    bucket.tokens = Math.min(burst, bucket.tokens + gained);
    bucket.at = now;
    return bucket;
  }

  function keep(key: string, bucket: Bucket): void {
    if (young.has(key)) return;
    young.set(key, bucket);
    if (young.size < generation) return;
    old = young;
    young = new Map();
  }

  return {
    wait(key, now) {
      const bucket = find(key, now);
      if (bucket === undefined || bucket.tokens >= 1) return 0;
      return Math.max(1, Math.ceil(((1 - bucket.tokens) * 1000) / perSecond));
    },
    draw(key, amount, now) {
      const bucket = find(key, now) ?? { tokens: burst, at: now };
      bucket.tokens -= amount;
      keep(key, bucket);
    },
    size: () => young.size + old.size,
  };
}
