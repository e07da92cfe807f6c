import { expect, test } from 'vitest';
import { snoozeChoices } from './item-detail.tsx';

test('half an hour, two hours, tomorrow at nine', () => {
  const now = new Date(2026, 10, 9, 22, 30, 20).getTime();
  expect(snoozeChoices(now)).toEqual([
    { label: '30 minutes', until: now + 1_800_000, for: '30m' },
    { label: '2 hours', until: now + 7_200_000, for: '2h' },
    { label: 'Tomorrow, 09:00', until: new Date(2026, 10, 10, 9).getTime(), for: '630m' },
  ]);
});

test('after midnight, tomorrow is the next calendar day', () => {
  const now = new Date(2026, 10, 9, 0, 30).getTime();
  expect(snoozeChoices(now)[2]?.for).toBe('1950m');
});
