import { sampleAttention } from '@svc/testkit';
import { expect, it } from 'vitest';
import { newItems, notificationOf } from './needs-you.tsx';

const asks = sampleAttention({ ticket: 'TID-140', reason: 'agent-needs-permission', openedSeq: 7 });
const feed = sampleAttention({ orchestrator: null, ticket: null, feed: 'codehost', openedSeq: 9 });

it('a notification has the ticket, the reason and the question, bounded and without hidden characters', () => {
  const message = 'The agent asks for permission: rm -r out\u202e';
  expect(notificationOf({ ...asks, message })).toEqual({
    title: 'TID-140: Agent needs a permission',
    body: 'The agent asks for permission: rm -r out[U+202E]',
  });
  expect(notificationOf({ ...asks, message: 'x'.repeat(5_000) }).body).toHaveLength(301);
});

it('only what was raised since, on this machine, is news', () => {
  expect(newItems([asks, feed, { ...feed, machine: 'other' }], 7)).toEqual([feed]);
});
