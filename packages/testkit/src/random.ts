// Repeatable random choices: the same seed makes the same choices, so that a failure can be reproduced.

export type Random = {
  /** From 0 up to, not including, 1. */
  next: () => number;
  /** A whole number from 0 up to, not including, `limit`. */
  below: (limit: number) => number;
  chance: (probability: number) => boolean;
  pick: <T>(list: readonly T[]) => T;
  shuffled: <T>(list: readonly T[]) => T[];
  bytes: (length: number) => Buffer;
};

/** `createRandom(7).below(6)` */
export function createRandom(seed: number): Random {
  // Zero would stay zero forever; small seeds are spread first.
  let state = Math.imul(seed + 1, 0x9e3779b1) | 0 || 1;

  /** A 32-bit xorshift: small, uniform, and good for choices; not for secrets. */
  function next(): number {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  }

  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick(list) {
      const picked = list[below(list.length)];
      if (picked === undefined) throw new Error('Nothing to pick from');
      return picked;
    },
    shuffled(list) {
      const result = [...list];
      for (let last = result.length - 1; last > 0; last -= 1) {
        const other = below(last + 1);
        const moved = result[last];
        result[last] = result[other] as (typeof result)[number];
        result[other] = moved as (typeof result)[number];
      }
      return result;
    },
    bytes(length) {
      const bytes = Buffer.allocUnsafe(length);
      for (let index = 0; index < length; index += 1) bytes[index] = below(256);
      return bytes;
    },
  };
}
