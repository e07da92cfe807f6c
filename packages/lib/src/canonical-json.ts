// JSON that is equal for equal values, whatever the order of their keys.

// Equal values give equal texts, whatever the order of their keys.

/** JSON with sorted keys in every object. The value must be JSON of bounded depth. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, child]) => child !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, child]) => `${JSON.stringify(name)}:${canonicalJson(child)}`);
  return `{${fields.join(',')}}`;
}

/** Whether two values are the same JSON; an absent field differs from one that is null. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one === other || canonicalJson(one) === canonicalJson(other);
}
