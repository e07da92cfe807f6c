// One text for one meaning: the same value gives the same text, in whatever order its keys were written.

/** JSON with the keys of every object in order. The value must be JSON, and of bounded depth. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, child]) => child !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, child]) => `${JSON.stringify(name)}:${canonicalJson(child)}`);
  return `{${fields.join(',')}}`;
}

/** Whether two values are the same JSON; a field that is absent is not the same as one that is null. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one === other || canonicalJson(one) === canonicalJson(other);
}
