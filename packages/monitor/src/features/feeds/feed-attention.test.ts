import { expect, test } from 'vitest';
import type { EventFields } from '../../kernel/log/event-line.ts';
import type { FeedGrade } from './feed-grade.ts';
import { raiseOnEdge } from './io/feeds.ts';

const grade = (name: FeedGrade['grade'], code: string | null = null): FeedGrade => ({
  grade: name,
  since: 0,
  code,
  why: 'why',
  remedy: 'Do this',
});
const live = grade('live');
const blind = grade('blind', 'silent');
const failing = grade('degraded', 'auth-failing');

test.each<[string, FeedGrade | null, FeedGrade, [string, string][]]>([
  ['blind', live, blind, [['comms.attention', 'feed-blind']]],
  ['signatures fail', live, failing, [['comms.attention', 'auth-failing']]],
  ['working again', blind, live, [['comms.attention_resolved', 'feed-blind']]],
  [
    'one problem after the other',
    failing,
    blind,
    [
      ['comms.attention_resolved', 'auth-failing'],
      ['comms.attention', 'feed-blind'],
    ],
  ],
  ['late only', live, grade('late', 'late'), []],
  ['disabled from the start', null, grade('disabled', 'not-configured'), []],
])('%s', (_name, from, to, expected) => {
  const drafts = raiseOnEdge('codehost', from, to);
  expect(drafts.map(({ event, detail }: EventFields) => [event, detail['reason']])).toEqual(expected);
});

test('a person reads the feed, the reason and the remedy', () => {
  expect(raiseOnEdge('codehost', live, blind)[0]?.detail).toMatchObject({
    message: 'The codehost feed: why',
    remedy: 'Do this',
  });
});
