// For how long an item may be put off with one key.
import { clockWords } from '../../parts/time-words.ts';

export type SnoozeChoice = { label: string; until: number; for: string };

const MINUTE = 60_000;
const MORNING = 9;

/** Tomorrow is the viewer's, also when the clock is changed at night. */
export function snoozeChoices(now: number): SnoozeChoice[] {
  const morning = new Date(now);
  morning.setDate(morning.getDate() + 1);
  morning.setHours(MORNING, 0, 0, 0);
  const minutes = Math.max(1, Math.ceil((morning.getTime() - now) / MINUTE));
  return [
    { label: '30 minutes', until: now + 30 * MINUTE, for: '30m' },
    { label: '2 hours', until: now + 120 * MINUTE, for: '2h' },
    {
      label: `Tomorrow, ${clockWords(morning.getTime(), morning.getTime())}`,
      until: morning.getTime(),
      for: `${minutes}m`,
    },
  ];
}
