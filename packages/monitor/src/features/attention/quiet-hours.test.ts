import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isQuiet, type NotifyConfig, quietMinutesLeft } from './notification.ts';

const configOf = (quietHours: NotifyConfig['quietHours']): NotifyConfig => ({
  desktop: { enabled: false },
  webhook: {},
  ntfy: {},
  minSeverity: 'medium',
  quietHours,
});
const at = (time: string) => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
};
const night = configOf({ from: '22:30', to: '07:00' });
const noon = configOf({ from: '12:00', to: '13:00' });

describe('quiet hours', () => {
  test.each([
    ['the night before it starts', night, '22:29', 0],
    ['the night as it starts', night, '22:30', 510],
    ['the night before midnight', night, '23:59', 421],
    ['the night at midnight', night, '00:00', 420],
    ['the night just before its end', night, '06:59', 1],
    ['the night at its end', night, '07:00', 0],
    ['noon, before', noon, '11:59', 0],
    ['noon, at the start', noon, '12:00', 60],
    ['noon, at the end', noon, '13:00', 0],
    ['the same time twice', configOf({ from: '12:00', to: '12:00' }), '12:00', 0],
    ['none', configOf({}), '03:00', 0],
    ['only a start', configOf({ from: '22:00' }), '23:00', 0],
    ['only an end', configOf({ to: '07:00' }), '06:00', 0],
  ])('%s', (_, config, time, left) => {
    expect(quietMinutesLeft(config, at(time))).toBe(left);
    expect(isQuiet(config, at(time))).toBe(left > 0);
  });

  test('quiet hours end after exactly the minutes left', () => {
    const minute = fc.integer({ min: 0, max: 1439 });
    const written = (minutes: number) =>
      `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
    fc.assert(
      fc.property(minute, minute, minute, (from, to, now) => {
        const config = configOf({ from: written(from), to: written(to) });
        const left = quietMinutesLeft(config, now);
        expect(left).toBeLessThan(1440);
        expect(isQuiet(config, (now + left) % 1440)).toBe(false);
        if (left > 0) expect(isQuiet(config, (now + left - 1) % 1440)).toBe(true);
      }),
    );
  });
});
