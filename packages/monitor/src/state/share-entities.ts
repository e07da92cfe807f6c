// Most of a past board is still so today. What is the same is taken from the board in memory, and its copy
// can go at once: a past board then costs its maps and what has changed since.
export type Share = (field: string, entity: unknown) => unknown;

/** `packed` is the board in memory, packed. Entities are found by their last line, and compared in full. */
export function createShare(packed: object): Share {
  const byField = new Map<string, Map<number, unknown>>();
  for (const [field, list] of Object.entries(packed)) {
    if (!Array.isArray(list)) continue;
    const byLastSeq = new Map<number, unknown>();
    for (const entity of list) byLastSeq.set(lastSeqOf(entity), entity);
    byField.set(field, byLastSeq);
  }
  return (field, entity) => {
    const known = byField.get(field)?.get(lastSeqOf(entity));
    return known !== undefined && isSame(known, entity) ? known : entity;
  };
}

function lastSeqOf(entity: unknown): number {
  const lastSeq = isObject(entity) ? entity['lastSeq'] : undefined;
  return typeof lastSeq === 'number' ? lastSeq : 0;
}

/** Of plain JSON values; a field that is undefined is not there. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) && one.length === other.length && one.every((item, at) => isSame(item, other[at]))
    );
  }
  if (!isObject(one) || !isObject(other) || Array.isArray(other)) return false;
  for (const name in one) if (!isSame(one[name], other[name])) return false;
  for (const name in other) if (one[name] === undefined && other[name] !== undefined) return false;
  return true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
