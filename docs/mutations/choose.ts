// Which mutations a run makes: all, some rows by their names, or so many, spread over all subjects.
import type { Mutation } from './mutation.ts';

/** `chooseMutations(all, { rows: 'auth-1, EVT-8' })`, `chooseMutations(all, { count: '5' })` */
export function chooseMutations(
  all: readonly Mutation[],
  wish: { rows?: string | undefined; count?: string | undefined },
): readonly Mutation[] {
  const wanted = wish.rows?.split(',').map((row) => row.trim().toUpperCase());
  const unknown = wanted?.filter((row) => all.every((mutation) => mutation.row !== row)) ?? [];
  if (unknown.length > 0)
    throw new Error(`--rows: there is no mutation of ${unknown.join(', ')}; see docs/mutations/rows`);
  const named = wanted === undefined ? all : all.filter(({ row }) => wanted.includes(row));
  if (wish.count === undefined) return named;
  const count = Number(wish.count);
  if (!Number.isInteger(count) || count < 1)
    throw new Error('--count: expected a whole number of at least 1');
  const step = Math.max(1, named.length / count);
  return named.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}
