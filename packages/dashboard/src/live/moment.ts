// The time in the URL, `?at=`: an ISO time, a seq, or an age such as `2h`. Absent means live.

/** The time itself; for a seq or an age, the time of the last event on its board. */
export function timeOfMoment(at: string | null | undefined, boardAt: string | null): number | null {
  if (at === null || at === undefined) return null;
  const parsed = /^\d{4}-\d\d-\d\d/.test(at) ? Date.parse(at) : Number.NaN;
  if (!Number.isNaN(parsed)) return parsed;
  return boardAt === null ? null : Date.parse(boardAt);
}

/** As written into the URL, with seconds. */
export function momentOf(time: number): string {
  return new Date(Math.floor(time / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
}
