import { describe, expect, test } from 'vitest';
import { repoOfSignal, SignalFile } from './signal-file.ts';
import { workerStatuses } from './worker-statuses.ts';

const minimal = {
  ticket: 'ENG-42',
  orchestrator: 'orch-1',
  workerName: 'orch-1-ENG-42',
  status: 'implementing',
  phase: 'implement',
  startedAt: '2026-01-02T03:04:05Z',
  updatedAt: '2026-01-02T03:04:05.678+01:00',
};

describe('SignalFile', () => {
  test.each([
    ['the required fields', {}],
    [
      'unknown fields, at every depth',
      { later: { a: 1 }, pr: { number: 42, more: true }, deploy: { attempts: [{ deploymentId: 1, x: 1 }] } },
    ],
    [
      'null for optional fields',
      { pr: null, deploy: null, pid: null, repo: null, cost: null, error: null, wave: null },
    ],
    ['a numbered phase', { phase: 3 }],
    [
      'a deploy',
      {
        deploy: {
          environment: 'production',
          deploymentId: 9,
          attempts: [{ deploymentId: 7, state: 'failure' }],
        },
      },
    ],
    ['a cost', { cost: { usd: 1.25, inputTokens: 1000, outputTokens: 20 } }],
  ])('accepts and keeps %s', (_name, more) => {
    const signal = { ...minimal, ...more };
    expect(SignalFile.parse(signal)).toEqual(signal);
  });

  test('the states of the deploy lifecycle are among the statuses', () => {
    expect(workerStatuses).toEqual(
      expect.arrayContaining(['merged', 'deploying', 'done', 'deploy-failed', 'stalled']),
    );
  });

  test.each(workerStatuses)('status %s', (status) => {
    expect(SignalFile.safeParse({ ...minimal, status }).success).toBe(true);
  });

  test.each([
    ['another status', { status: 'sleeping' }],
    ['no ticket', { ticket: '' }],
    ['an invalid time', { updatedAt: 'now' }],
    ['an attempt without deployment', { deploy: { attempts: [{}] } }],
    ['an invalid pid', { pid: 0 }],
  ])('refuses %s', (_name, more) => {
    expect(SignalFile.safeParse({ ...minimal, ...more }).success).toBe(false);
  });

  test.each(Object.keys(minimal))('rejects a file without %s', (name) => {
    expect(SignalFile.safeParse({ ...minimal, [name]: undefined }).success).toBe(false);
  });
});

test.each([
  [{ repo: 'acme/web' }, 'acme/web'],
  [{ repo: 'acme/web', pr: { url: 'https://codehost.example.test/other/repo/pull/1' } }, 'acme/web'],
  [{ pr: { url: 'https://codehost.example.test/acme/web.app/pull/42' } }, 'acme/web.app'],
  [{ repo: null, pr: { url: 'https://codehost.example.test/acme/web/pull/42/files' } }, 'acme/web'],
  [{ repo: 'web', pr: { url: 'https://codehost.example.test/acme/web/pull/42' } }, 'acme/web'],
  [{ repo: '../web/x', pr: null }, undefined],
  [{ pr: { url: 'https://codehost.example.test/acme/web/issues/42' } }, undefined],
  [{ pr: {} }, undefined],
  [{}, undefined],
])('repoOfSignal %j', (signal, repo) => {
  expect(repoOfSignal(signal)).toBe(repo);
});
