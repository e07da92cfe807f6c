import { expect, test } from 'vitest';

import { type VerifyFinding, verdict } from './verdict.ts';

const passed = { state: 'passed', command: 'npm test', ms: 2_000 } as const;
const nothing = { scope: 'backend', tests: passed, types: [], advice: [] } as const;
const advice: VerifyFinding = {
  kind: 'test-skipped',
  severity: 'advisory',
  why: 'a note',
  path: 'a.ts',
  line: 3,
};

test('no findings pass, and advice does not fail', () => {
  expect(verdict(nothing)).toEqual({
    passed: true,
    summary: 'Tests passed (npm test, 2 s); no findings.',
    findings: [],
    blocking: 0,
  });
  expect(verdict({ ...nothing, advice: [advice] })).toMatchObject({ passed: true, blocking: 0 });
});

test.each([
  [{ state: 'failed', command: 'npm test', ms: 1, how: 'ended with exit code 1' }, 'tests-failed'],
  [{ state: 'timed-out', command: 'npm test', ms: 1 }, 'tests-timed-out'],
  [{ state: 'setup-failed', step: 'npm ci', how: 'ended with exit code 1' }, 'setup-failed'],
  [{ state: 'no-command' }, 'no-test-command'],
] as const)('%j blocks', (tests, kind) => {
  const given = verdict({ ...nothing, tests, advice: [advice] });
  expect(given).toMatchObject({ passed: false, blocking: 1 });
  expect(given.findings.map((finding) => finding.kind)).toEqual([kind, 'test-skipped']);
});

test('a missing test command does not block documentation', () => {
  expect(verdict({ ...nothing, scope: 'docs-only', tests: { state: 'no-command' } })).toMatchObject({
    passed: true,
    findings: [{ kind: 'no-test-command', severity: 'advisory' }],
  });
});

test('a type that is missing or cannot be checked blocks', () => {
  const types = (['in-diff', 'nearby', 'missing', 'unknown'] as const).map((state) => ({
    type: state,
    state,
    examples: [],
  }));
  const { passed: ok, findings, summary } = verdict({ ...nothing, types });
  expect(ok).toBe(false);
  expect(findings.map(({ kind }) => kind)).toEqual(['test-type-missing', 'test-type-unknown']);
  expect(summary).toContain('cannot be checked');
});

test('a summary is never long', () => {
  const type = { type: 'x'.repeat(400), state: 'missing' as const, examples: [] };
  const { summary } = verdict({ ...nothing, types: Array.from({ length: 9 }, () => type) });
  expect(summary.length).toBeLessThanOrEqual(600);
});
