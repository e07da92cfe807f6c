// A table from whole numbers above zero to numbers, in two flat arrays: a Map of a quarter of a million such
// pairs takes three times the memory and gives the collector as many objects to look at.
export type NumberTable = {
  get: (key: number) => number | undefined;
  /** Keeps the first value of a key. */
  add: (key: number, value: number) => void;
  /** All keys, smallest first. */
  sortedKeys: () => Float64Array;
  size: () => number;
  clear: () => void;
};

/** At most half of the slots are taken, so that a search is short. */
const FULLNESS = 0.5;
const SMALLEST = 1024;

export function createNumberTable(): NumberTable {
  let keys = new Float64Array(SMALLEST);
  let values = new Float64Array(SMALLEST);
  let size = 0;

  /** The slot of a key, or the free one where it belongs. The keys are hashes: their low bits are spread. */
  function slotOf(key: number): number {
    let slot = key % keys.length;
    while (keys[slot] !== 0 && keys[slot] !== key) slot = slot + 1 === keys.length ? 0 : slot + 1;
    return slot;
  }

  function put(key: number, value: number): void {
    const slot = slotOf(key);
    if (keys[slot] === key) return;
    keys[slot] = key;
    values[slot] = value;
    size += 1;
  }

  function grow(): void {
    const [oldKeys, oldValues] = [keys, values];
    keys = new Float64Array(oldKeys.length * 2);
    values = new Float64Array(keys.length);
    size = 0;
    oldKeys.forEach((key, slot) => key !== 0 && put(key, oldValues[slot] ?? 0));
  }

  return {
    get(key) {
      const slot = slotOf(key);
      return keys[slot] === key ? values[slot] : undefined;
    },
    add(key, value) {
      if (size >= keys.length * FULLNESS) grow();
      put(key, value);
    },
    sortedKeys: () => keys.filter((key) => key !== 0).toSorted(),
    size: () => size,
    clear() {
      keys = new Float64Array(SMALLEST);
      values = new Float64Array(SMALLEST);
      size = 0;
    },
  };
}
