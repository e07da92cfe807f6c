import type { ConfigEntry } from 'svc-monitor/src/features/configuration/api.ts';
import { expect, test } from 'vitest';
import { entriesShown, sectionsOf, sourceWords, valueWords } from './config-entries.ts';

function entry(key: string, rest: Partial<ConfigEntry> = {}): ConfigEntry {
  const source = { kind: 'default', text: 'default', file: null, line: null, variable: null };
  const common = { description: `what ${key} does`, isSet: false, deprecated: null, differs: null, source };
  return { key, ...common, ...rest } as ConfigEntry;
}

function fileSource(file: string, line: number): ConfigEntry['source'] {
  return { kind: 'file', text: `${file}:${line}`, file, line, variable: null };
}

const entries = [
  entry('svc.tracker.apiToken', { isSet: true, source: fileSource('/p/.svc/config.json', 3) }),
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
  [{ text: '', only: '' }, 1],
  [{ text: 'otel', only: '' }, 1],
  [{ text: 'otel', only: 'mine' }, 0],
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

const files = { project: '/p/.svc/config.json', secrets: '/c/config-shop.json', global: '/c/config.json' };

test.each([
  [fileSource('/p/.svc/config.json', 3), 'project file, line 3'],
  [fileSource('/c/config-shop.json', 12), 'secrets file, line 12'],
  [fileSource('/elsewhere/config.json', 1), '/elsewhere/config.json:1'],
  [{ ...fileSource('', 0), kind: 'environment', text: 'environment SVC_X' } as const, 'environment SVC_X'],
  [{ ...fileSource('', 0), kind: 'unset', text: 'not set; belongs in the project file' } as const, 'not set'],
])('%j is written %s', (source, words) => expect(sourceWords(source, files)).toBe(words));
