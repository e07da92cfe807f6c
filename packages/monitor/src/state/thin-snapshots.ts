// Which snapshots may go: of the older ones only so many stay that every line is at most `widest` lines
// behind one, or behind the empty board at 0. Where they were farther apart already, all stay.
export function snapshotsToDrop(
  ascendingSeqs: readonly number[],
  { recent, widest }: { recent: number; widest: number },
): number[] {
  const dropped: number[] = [];
  let before = 0;
  for (const [index, seq] of ascendingSeqs.slice(0, Math.max(0, ascendingSeqs.length - recent)).entries()) {
    const next = ascendingSeqs[index + 1];
    if (next !== undefined && next - before <= widest) dropped.push(seq);
    else before = seq;
  }
  return dropped;
}
