import { expect, test } from 'vitest';
import { judgeHealth } from './judge-daemon.ts';

test('rules that cannot go on are broken, with the reason and the remedy; rules that do are not spoken of', () => {
  const remedy = 'Fix the filter of the rule (svc rules test)';
  expect(judgeHealth({ rules: { state: 'degraded', why: 'the rule r is stopped', remedy } })).toMatchObject([
    {
      part: 'rules',
      grade: 'broken',
      what: 'the follower of rules does not work: the rule r is stopped',
      remedy,
    },
  ]);
  expect(judgeHealth({ rules: { state: 'live' } })).toEqual([]);
});

test('a receiver with a secret that is not used is broken; one that is off or well is not mentioned', () => {
  const remedy = 'Make a new one';
  const weak = { receiver: 'degraded', why: 'MY_KEY is not used', remedy };
  expect(
    judgeHealth({ feeds: { codehost: weak, tracker: { receiver: 'disabled', why: 'no secret', remedy } } }),
  ).toMatchObject([
    {
      part: 'receiver',
      grade: 'broken',
      what: 'the codehost receiver refuses deliveries: MY_KEY is not used',
      remedy,
    },
  ]);
  expect(judgeHealth({ feeds: { codehost: { receiver: 'ready' } } })).toEqual([]);
});
