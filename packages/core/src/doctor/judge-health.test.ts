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
