import { expect, test } from 'vitest';
import { deliveriesSince, HookDelivery, missingDeliveries, reachesBefore } from './missing-deliveries.ts';

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const delivery = (id: string, guid: string, minute: number): HookDelivery => ({
  id,
  guid,
  delivered_at: at(minute),
  event: 'push',
});
const since = Date.parse(at(10));

test('deliveries sent in the window, oldest first', () => {
  const listed = [delivery('3', 'c', 30), delivery('2', 'b', 10), delivery('1', 'a', 9)];
  expect(deliveriesSince(listed, since).map(({ guid }) => guid)).toEqual(['b', 'c']);
});

test('deliveries of the same second keep their order', () => {
  const listed = ['d', 'c', 'b', 'a'].map((guid) => delivery(guid.charCodeAt(0).toString(), guid, 20));
  expect(deliveriesSince(listed, since).map(({ guid }) => guid)).toEqual(['a', 'b', 'c', 'd']);
});

test('attempts of one event count once; the newest is fetched, in the position of the first', () => {
  const listed = [delivery('9', 'a', 40), delivery('2', 'b', 20), delivery('1', 'a', 15)];
  expect(deliveriesSince(listed, since).map(({ id, guid }) => [guid, id])).toEqual([
    ['a', '9'],
    ['b', '2'],
  ]);
});

test('an old event that was sent again within the window counts', () => {
  expect(deliveriesSince([delivery('9', 'a', 40), delivery('1', 'a', 1)], since)).toHaveLength(1);
});

test('only the log shows what arrived', () => {
  const sent = [delivery('1', 'a', 20), delivery('2', 'b', 21)];
  expect(missingDeliveries(sent, new Set(['a', 'z']))).toEqual([sent[1]]);
});

test('paging stops at the window', () => {
  expect(reachesBefore([delivery('2', 'b', 20), delivery('1', 'a', 9)], since)).toBe(true);
  expect(reachesBefore([delivery('2', 'b', 20), delivery('1', 'a', 10)], since)).toBe(false);
  expect(reachesBefore([], since)).toBe(true);
});

test('an id keeps its digits, whatever its size', () => {
  const row = { guid: 'g', delivered_at: at(1), event: 'push' };
  expect(HookDelivery.parse({ ...row, id: 12 }).id).toBe('12');
  expect(HookDelivery.parse({ ...row, id: '9007199254740994' }).id).toBe('9007199254740994');
  expect(HookDelivery.safeParse({ ...row, id: '../1' }).success).toBe(false);
});
