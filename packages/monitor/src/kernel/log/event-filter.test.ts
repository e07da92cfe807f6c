import { describe, expect, test } from 'vitest';
import { topics } from '../../features/topics.ts';
import { durationMs, impossibleTopicIn, matchesFilter, parseSince, topicsOfGlob } from './event-filter.ts';

const line = { event: 'codehost.pr.merged', scope: { ticket: 'ABC-1', repo: 'Acme/web', pr: 7 } };

test.each([
  [{}, true],
  [{ topics: new Set(['codehost.pr.merged']) }, true],
  [{ topics: new Set(['codehost.push']) }, false],
  [{ ticket: 'ABC-1' }, true],
  [{ ticket: 'ABC-2' }, false],
  [{ repo: 'Acme/web', pr: 7 }, true],
  [{ repo: 'acme/api' }, false],
  [{ pr: 8 }, false],
])('%o matches: %s', (filter, wanted) => {
  expect(matchesFilter(line, filter)).toBe(wanted);
});

describe('topics that do not exist are refused', () => {
  test('a glob, with the likely topic', () => {
    expect(topicsOfGlob(topics, 'codehost.pr.megred')).toEqual({
      ok: false,
      message: 'No event can have the topic codehost.pr.megred. Did you mean codehost.pr.merged?',
    });
    const found = topicsOfGlob(topics, 'codehost.deployment*');
    expect(found.ok && found.topics.has('codehost.deployment_status.success')).toBe(true);
  });

  test.each([
    ['.event == "codehost.pr.merged"', undefined],
    ['.event=="codehost.pr.megred" and .scope.pr == 3', 'codehost.pr.megred'],
    ['.event | startswith("tracker.")', undefined],
    ['(.event|startswith("trakcer."))', 'trakcer.*'],
    ['.scope.ticket == "no.topic"', undefined],
  ])('in jq: %s', (jq, impossible) => {
    expect(impossibleTopicIn(topics, jq)).toBe(impossible);
  });
});

test.each([
  ['1234', { seq: 1234 }],
  ['0', { seq: 0 }],
  ['15m', { time: 1_000_000_000 - 900_000 }],
  ['1970-01-02T00:00:00Z', { time: 86_400_000 }],
  ['1970-01-02', { time: 86_400_000 }],
  ['yesterday', undefined],
  ['-5', undefined],
  ['5', { seq: 5 }],
  ['2026-13-45', undefined],
])('since %s', (text, wanted) => {
  expect(parseSince(text, 1_000_000_000)).toEqual(wanted);
});

test('durations', () => {
  expect(['30s', '2h', '1w', '5x', ''].map(durationMs)).toEqual([
    30_000,
    7_200_000,
    604_800_000,
    undefined,
    undefined,
  ]);
});
