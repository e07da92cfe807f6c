// A channel of a relay that keeps what it takes: positions `<epoch>.<seq>`, and everything after one of them.
type Kept<T> = { seq: number; message: T };

export type KeptChannel<T> = {
  add: (message: T) => Kept<T>;
  position: (seq: number) => string;
  newest: () => number;
  /** What follows a position; `gap` when the relay no longer has, or never had, all of it. */
  after(position: string): { from: number; gap: { requested: string; oldest: string } | null };
  since: (seq: number) => Kept<T>[];
  /** Throws away all but the newest few. */
  trim: (keep: number) => void;
};

export function createKeptChannel<T>(epoch: string): KeptChannel<T> {
  let kept: Kept<T>[] = [];
  let newest = 0;
  const position = (seq: number): string => `${epoch}.${seq}`;
  const oldest = (): number => kept[0]?.seq ?? newest + 1;
  return {
    add(message) {
      newest += 1;
      const entry = { seq: newest, message };
      kept.push(entry);
      return entry;
    },
    position,
    newest: () => newest,
    after(requested) {
      const [itsEpoch, text = ''] = requested.split('.');
      const seq = Number(text);
      if (itsEpoch === epoch && seq >= oldest() - 1 && seq <= newest) return { from: seq, gap: null };
      return { from: oldest() - 1, gap: { requested, oldest: position(oldest()) } };
    },
    since: (seq) => kept.filter((entry) => entry.seq > seq),
    trim(keep) {
      kept = kept.slice(Math.max(0, kept.length - keep));
    },
  };
}
