import { expect, test } from 'vitest';
import { judgeHealth } from './judge-health.ts';

test('rules that cannot go on are broken, with the reason and the remedy; rules that do are not spoken of', () => {
  const remedy = 'Mend the filter, then: svc monitor restart';
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

test('a receiver with a weak secret is a warning; one that is off or well is not spoken of', () => {
  const remedy = 'Make a new one';
  const weak = { receiver: 'ready', why: 'MY_KEY is short', remedy };
  expect(
    judgeHealth({ feeds: { codehost: weak, tracker: { receiver: 'disabled', why: 'no secret', remedy } } }),
  ).toMatchObject([
    { part: 'receiver', grade: 'warning', what: 'the codehost receiver is weak: MY_KEY is short', remedy },
  ]);
  expect(judgeHealth({ feeds: { codehost: { receiver: 'ready' } } })).toEqual([]);
});
