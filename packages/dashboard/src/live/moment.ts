// The moment in the address, `?at=`: an ISO time, a seq, or how long ago. Absent is now.

/** When it was: the time itself, or of a seq that of the last line that the board of it has. */
export function timeOfMoment(at: string | null | undefined, boardAt: string | null): number | null {
  if (at === null || at === undefined) return null;
  const told = /^\d{4}-\d\d-\d\d/.test(at) ? Date.parse(at) : Number.NaN;
  if (!Number.isNaN(told)) return told;
  return boardAt === null ? null : Date.parse(boardAt);
}

/** As it is written into the address, to the second. */
export function momentOf(time: number): string {
  return new Date(Math.floor(time / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
}
