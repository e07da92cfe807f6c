import { expect, test } from 'vitest';
import { judgeHealth } from './judge-daemon.ts';

test('rules that cannot continue are broken, with the reason and the remedy; working rules are not mentioned', () => {
  const remedy = 'Fix the filter of the rule (svc rules test)';
  expect(judgeHealth({ rules: { state: 'degraded', why: 'the rule r is stopped', remedy } })).toMatchObject([
    {
      part: 'rules',
      grade: 'broken',
      what: 'the rule engine does not work: the rule r is stopped',
      remedy,
    },
  ]);
  expect(judgeHealth({ rules: { state: 'live' } })).toEqual([]);
});

test('a receiver with an unusable secret is broken; one that is off or healthy is not mentioned', () => {
  const remedy = 'Make a new one';
  const weak = { receiver: 'degraded', why: 'MY_KEY is not used', remedy };
  expect(
    judgeHealth({ feeds: { codehost: weak, tracker: { receiver: 'disabled', why: 'no secret', remedy } } }),
  ).toMatchObject([
    {
      part: 'receiver',
      grade: 'broken',
      what: 'the codehost receiver rejects deliveries: MY_KEY is not used',
      remedy,
    },
  ]);
  expect(judgeHealth({ feeds: { codehost: { receiver: 'ready' } } })).toEqual([]);
});

test('sessions that are not up to date are broken, with the reason and the remedy', () => {
  const sessions = { state: 'degraded', why: 'ps cannot be started', remedy: 'See: svc monitor logs' };
  expect(judgeHealth({ sessions })).toMatchObject([
    {
      part: 'hooks',
      grade: 'broken',
      what: expect.stringContaining('ps cannot be started'),
      remedy: sessions.remedy,
    },
  ]);
  expect(judgeHealth({ sessions: { state: 'live' } })).toEqual([]);
});

test('a signal file that is no regular file is named', () => {
  const signals = { state: 'live', files: 1, ignored: 2, ignoredFiles: ['/runs/r/workers/A-1.json', '/x'] };
  expect(judgeHealth({ signals })).toContainEqual(
    expect.objectContaining({ grade: 'warning', evidence: '2, the first: /runs/r/workers/A-1.json' }),
  );
});
