// Hours in which nobody is told anything. Local times of day, in minutes since midnight.
import type { Config } from '../config/schema/config.ts';

export type NotifyConfig = Config['svc']['notify'];

const DAY = 24 * 60;

export function isQuiet(config: NotifyConfig, localMinutes: number): boolean {
  return quietMinutesLeft(config, localMinutes) > 0;
}

/** Until the quiet hours end; 0 outside of them. The same time twice is no time at all. */
export function quietMinutesLeft({ quietHours: { from, to } }: NotifyConfig, localMinutes: number): number {
  if (from === undefined || to === undefined) return 0;
  const begin = minutesOf(from);
  const length = (minutesOf(to) - begin + DAY) % DAY;
  const passed = (localMinutes - begin + DAY) % DAY;
  return Math.max(0, length - passed);
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
