import type { ConfigEntry } from '@svc/core';
import { expect, test } from 'vitest';
import { entriesShown, sectionsOf, valueWords } from './configuration-screen.tsx';

function entry(key: string, rest: Partial<ConfigEntry> = {}): ConfigEntry {
  const common = { description: `what ${key} does`, isSet: false, deprecated: null, differs: null };
  return { key, ...common, ...rest } as ConfigEntry;
}

const entries = [
  entry('svc.tracker.apiToken', { isSet: true }),
  entry('svc.tracker.teamKey'),
  entry('svc.ai.enabled', { description: 'Summaries', deprecated: 'Use svc.ai.on' }),
  entry('otel.enabled', { differs: 'expected true or false' }),
];

test('sections are the first two parts of svc keys, and the first part of others', () => {
  expect(sectionsOf(entries).map(({ name, entries: all }) => `${name} ${all.length}`)).toEqual([
    'svc.tracker 2',
    'svc.ai 1',
    'otel 1',
  ]);
});

test.each([
  [{ text: '', only: 'all' }, 4],
  [{ text: 'TRACKER', only: 'all' }, 2],
  [{ text: 'summaries', only: 'all' }, 1],
  [{ text: '', only: 'set' }, 1],
  [{ text: '', only: 'unset' }, 3],
  [{ text: 'otel', only: 'deprecated' }, 0],
  [{ text: '', only: 'differs' }, 1],
])('%j shows %d', (filter, count) => expect(entriesShown(entries, filter)).toHaveLength(count));

test.each([
  [false, 'false'],
  [0, '0'],
  [null, 'none'],
  [undefined, 'none'],
  ['', ''],
  [['a'], '["a"]'],
])('%j is written %s', (value, words) => expect(valueWords(value)).toBe(words));
