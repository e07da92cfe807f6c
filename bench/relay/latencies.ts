// Times of a bench, and what is told of them. The clock is one that all processes of the machine share.

/** Milliseconds since the machine was started. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export type Spread = { p50Ms: number; p99Ms: number; slowestMs: number };

export function spreadOf(milliseconds: readonly number[]): Spread {
  const sorted = Float64Array.from(milliseconds).toSorted();
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99), slowestMs: sorted.at(-1) ?? 0 };
}

export function medianOf(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
