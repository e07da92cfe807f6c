import { expect, test } from 'vitest';
import { coverageReport } from './polling-report.ts';

const since = Date.UTC(2026, 0, 1);
const at = '2026-01-01T00:00:00.000Z';

test('covered by a hook', () => {
  expect(coverageReport({ repo: 'acme/web', by: 'webhook', hookId: 7, how: 'kept', since })).toEqual({
    repo: 'acme/web',
    by: 'webhook',
    since: at,
    hookId: 7,
    code: null,
    why: null,
    remedy: null,
    retryAt: null,
  });
});

test('polled, with reason and remedy', () => {
  const problem = { kind: 'gh-missing', message: 'ENOENT' } as const;
  const polled = { repo: 'acme/web', by: 'polling', since, retryAt: since, hold: null } as const;
  expect(coverageReport({ ...polled, problem })).toMatchObject({
    by: 'polling',
    code: 'gh-missing',
    remedy: expect.stringContaining('Install gh'),
    retryAt: at,
  });
  expect(coverageReport({ ...polled, problem: null, hold: 'not-configured', retryAt: null })).toMatchObject({
    code: 'not-configured',
    retryAt: null,
  });
});
