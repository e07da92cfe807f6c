// Indexes beside the maps, so no line has to search through them. They are derived from the maps and never stored.

/** Lists are in order and never changed in place: they are read far more often than they change. */
export type Index = Map<string, readonly string[]>;

export type Entry = [index: Index, key: string];

export function relink(key: string, before: readonly Entry[] = [], after: readonly Entry[] = []): void {
  for (const [index, name] of before) {
    const keys = index.get(name)?.filter((other) => other !== key) ?? [];
    if (keys.length === 0) index.delete(name);
    else index.set(name, keys);
  }
  for (const [index, name] of after) {
    const keys = index.get(name);
    index.set(name, keys === undefined ? [key] : keys.toSpliced(positionOf(key, keys), 0, key));
  }
}

function positionOf(key: string, keys: readonly string[]): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

const noKeys: readonly string[] = [];

/** The keys, sorted. */
export function linked(index: Index, name: string): readonly string[] {
  return index.get(name) ?? noKeys;
}
