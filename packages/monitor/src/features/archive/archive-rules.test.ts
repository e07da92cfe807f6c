import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  handoffName,
  isPrunable,
  pruneAge,
  QUIET_MS,
  runOfChannel,
  runOfLine,
  summaryOf,
  whyNotEnded,
} from './archive-rules.ts';
import { type ArchivedFile, archiveSizes, isArchivePath } from './manifest.ts';

const file = (path: string, more: Partial<ArchivedFile> = {}): ArchivedFile => ({
  path,
  size: 10,
  sha256: 'a'.repeat(64),
  mode: 0o644,
  mtime: '2026-01-02T23:59:59Z',
  source: '/x',
  encoding: 'identity',
  storedSize: 10,
  ...more,
});

describe('a path in the archive', () => {
  test.each([
    ['run/summary.md', true],
    ['run/a/b c/-rf', true],
    ['run/..x', true],
    ['channels/orch.jsonl', true],
    ['events.jsonl', true],
    ['run', false],
    ['run/', false],
    ['run/../x', false],
    ['run/a/./b', false],
    ['run//b', false],
    ['/run/x', false],
    ['other/x', false],
    ['run/a\0b', false],
    ['run/a\uFFFDb', false],
    [`run/${'x'.repeat(5000)}`, false],
  ])('%j: %s', (path, expected) => {
    expect(isArchivePath(path)).toBe(expected);
  });

  test('every allowed path stays inside the folder that it is restored to', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('..', '.', 'a', '', 'run', '/', '\\')), (names) => {
        const path = `run/${names.join('/')}`;
        fc.pre(isArchivePath(path));
        const { pathname } = new URL(path.replaceAll('\\', 'b'), 'file:///to/here/');
        expect(pathname.startsWith('/to/here/run/')).toBe(true);
      }),
    );
  });
});

test.each([
  ['nightly', 'nightly'],
  ['nightly.jsonl', 'nightly'],
  ['nightly-review.jsonl', 'nightly'],
  ['nightly-2.jsonl', 'nightly-2'],
  ['nightly-2_x', 'nightly-2'],
  ['nightly2.jsonl', undefined],
  ['night.jsonl', undefined],
])('the channel %s belongs to run %s', (name, run) => {
  expect(runOfChannel(name, ['nightly', 'nightly-2'])).toBe(run);
});

test('lines about the archive belong to no run', () => {
  const scope = { orchestrator: 'o' };
  expect(runOfLine({ event: 'orchestrator.run.started', scope })).toBe('o');
  expect(runOfLine({ event: 'archive.swept', scope })).toBeUndefined();
});

test('the summary is the one at the top of the run, and its copy is named by its day', () => {
  const files = [file('run/deep/summary.md'), file('run/SUMMARY.md')];
  expect(summaryOf(files)?.path).toBe('run/SUMMARY.md');
  expect(summaryOf([...files, file('run/summary.md')])?.path).toBe('run/summary.md');
  expect(summaryOf([])).toBeUndefined();
  expect(handoffName('o-1', file('x'))).toBe('2026-01-02-o-1-summary.md');
});

test('the same bytes are stored once', () => {
  const files = [file('run/a'), file('run/b'), file('run/c', { sha256: 'b'.repeat(64), storedSize: 3 })];
  expect(archiveSizes(files)).toEqual({ bytes: 30, storedBytes: 13 });
});

describe('a run has ended', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  const long = { changedAt: now - QUIET_MS };
  test.each([
    ['when it is completed', { state: 'completed', statuses: [], changedAt: now }, undefined],
    ['when it is canceled', { state: 'canceled', statuses: ['implementing'], changedAt: now }, undefined],
    [
      'when all workers ended an hour ago',
      { state: 'running', statuses: ['done', 'failed'], ...long },
      undefined,
    ],
    ['not before', { state: 'running', statuses: ['done'], changedAt: now - QUIET_MS + 1 }, /last hour/],
    ['not while one works', { state: 'unknown', statuses: ['done', 'stalled'], ...long }, /1 of 2 tickets/],
    [
      'not while one is unreadable',
      { state: 'unknown', statuses: ['done', null], ...long },
      /cannot be read/,
    ],
    ['not without workers', { state: 'unknown', statuses: [], ...long }, /no tickets/],
  ] as const)('%s', (_, standing, expected) => {
    const reason = whyNotEnded(standing, now);
    if (expected === undefined) expect(reason).toBeUndefined();
    else expect(reason).toMatch(expected);
  });
});

describe('prune', () => {
  test.each([
    [undefined, null, 'never'],
    [undefined, 30, { ageMs: 30 * 86_400_000 }],
    ['2h', 30, { ageMs: 7_200_000 }],
    ['2h', null, { ageMs: 7_200_000 }],
    ['30', null, 'unreadable'],
    ['soon', 30, 'unreadable'],
  ])('--older-than %s, retention.days %s', (olderThan, days, expected) => {
    expect(pruneAge(olderThan, days)).toEqual(expected);
  });

  test('an archive of exactly that age is removed', () => {
    const now = Date.parse('2026-01-31T00:00:00Z');
    expect(isPrunable('2026-01-01T00:00:00Z', 30 * 86_400_000, now)).toBe(true);
    expect(isPrunable('2026-01-01T00:00:00.001Z', 30 * 86_400_000, now)).toBe(false);
  });
});
