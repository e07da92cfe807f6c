import { healthyReport } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { DoctorPart } from '../../kernel/check/finding.ts';
import { judgeHealth, type ReportedHealth } from './judge-daemon.ts';

const found = (part: DoctorPart, more: Partial<ReportedHealth>) =>
  judgeHealth(healthyReport(more)).filter((finding) => finding.part === part);

test('rules that cannot continue are broken, with the reason and the remedy; working rules are not mentioned', () => {
  const remedy = 'Fix the filter of the rule (svc rules test)';
  expect(
    found('rules', { rules: { state: 'degraded', why: 'the rule r is stopped', remedy } }),
  ).toMatchObject([
    {
      part: 'rules',
      grade: 'broken',
      what: 'the rule engine does not work: the rule r is stopped',
      remedy,
    },
  ]);
  expect(found('rules', {})).toEqual([]);
});

test('a receiver with an unusable secret is broken; one that is off or healthy is not mentioned', () => {
  const remedy = 'Make a new one';
  const weak = { receiver: 'degraded' as const, why: 'MY_KEY is not used', remedy };
  expect(
    found('receiver', {
      feeds: { codehost: weak, tracker: { receiver: 'disabled', why: 'no secret', remedy } },
    }),
  ).toMatchObject([
    {
      part: 'receiver',
      grade: 'broken',
      what: 'the codehost receiver rejects deliveries: MY_KEY is not used',
      remedy,
    },
  ]);
  expect(found('receiver', {})).toEqual([]);
});

test('sessions that are not up to date are broken, with the reason and the remedy', () => {
  const sessions = { state: 'degraded', why: 'ps cannot be started', remedy: 'See: svc monitor logs' };
  expect(found('hooks', { sessions })).toMatchObject([
    {
      part: 'hooks',
      grade: 'broken',
      what: expect.stringContaining('ps cannot be started'),
      remedy: sessions.remedy,
    },
  ]);
  expect(found('hooks', {})).toEqual([]);
});

test('a signal file that is no regular file is named', () => {
  const signals = {
    state: 'live',
    files: 1,
    corrupt: 0,
    ignored: 2,
    ignoredFiles: ['/runs/r/workers/A-1.json', '/x'],
  };
  expect(found('signals', { signals })).toContainEqual(
    expect.objectContaining({ grade: 'warning', evidence: '2, the first: /runs/r/workers/A-1.json' }),
  );
});

test('a deprecated key is no problem of the daemon; an ignored one is a warning, an error is broken', () => {
  const problems = (['deprecated', 'ignored', 'error'] as const).map((severity) => {
    return {
      severity,
      file: '/app/.svc/config.json',
      text: `an ${severity} key.`,
      remedy: 'svc config explain',
    };
  });
  expect(found('configuration', { configuration: { problems } })).toMatchObject([
    { grade: 'warning', what: 'an ignored key', remedy: 'svc config explain' },
    { grade: 'broken', what: 'an error key' },
  ]);
});
