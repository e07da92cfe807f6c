// How often something happened within the last hour, in sixty slots: a flood takes no memory.
const SLOTS = 60;

export type RecentCount = { note: () => void; count: () => number };

export function createRecentCount(now: () => number, windowMs = 3_600_000): RecentCount {
  const slotMs = windowMs / SLOTS;
  const slots = Array.from({ length: SLOTS }, () => ({ turn: -1, count: 0 }));
  const turnNow = (): number => Math.floor(now() / slotMs);
  return {
    note() {
      const turn = turnNow();
      const slot = slots[turn % SLOTS];
      if (slot === undefined) return;
      slot.count = slot.turn === turn ? slot.count + 1 : 1;
      slot.turn = turn;
    },
    count() {
      const turn = turnNow();
      return slots.reduce(
        (sum, slot) => (slot.turn > turn - SLOTS && slot.turn <= turn ? sum + slot.count : sum),
        0,
      );
    },
  };
}
