// Calls to the code host, counted by kind and by hour.
const HOUR_MS = 3_600_000;

const kinds = [
  ['pull requests', /^POST \/api\/graphql/],
  ['lists of deliveries', /\/deliveries\?/],
  ['payloads', /\/deliveries\/\d/],
  ['hooks', /\/hooks(?:\?|\/|$)/],
  ['deployments', /\/deployments\?/],
  ['deployment statuses', /\/deployments\/\d+\/statuses/],
] as const;

export type CallKind = (typeof kinds)[number][0] | 'other';
export type Call = { at: number; kind: CallKind };

export const callKinds: readonly CallKind[] = [...kinds.map(([kind]) => kind), 'other'];

/** `line` is the method and the path. */
export function kindOf(line: string): CallKind {
  return kinds.find(([, pattern]) => pattern.test(line))?.[0] ?? 'other';
}

export function countByKind(calls: readonly Call[]): Map<CallKind, number> {
  return new Map(callKinds.map((kind) => [kind, calls.filter((call) => call.kind === kind).length]));
}

/** The most calls in any sixty minutes, not only from full hour to full hour. */
export function worstHour(calls: readonly Call[]): { from: number; calls: Call[] } {
  let worst: { from: number; calls: Call[] } = { from: 0, calls: [] };
  let first = 0;
  for (const [index, { at }] of calls.entries()) {
    while ((calls[first]?.at ?? at) <= at - HOUR_MS) first += 1;
    const size = index + 1 - first;
    if (size > worst.calls.length)
      worst = { from: calls[first]?.at ?? at, calls: calls.slice(first, index + 1) };
  }
  return worst;
}

/** Calls by full hours from the start. */
export function perHour(day: {
  calls: readonly Call[];
  startedAt: number;
  options: { hours: number };
}): number[] {
  const counts = Array.from({ length: Math.ceil(day.options.hours) }, () => 0);
  for (const { at } of day.calls) {
    const hour = Math.floor((at - day.startedAt) / HOUR_MS);
    counts[hour] = (counts[hour] ?? 0) + 1;
  }
  return counts;
}
