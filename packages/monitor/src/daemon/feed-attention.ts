// Which edges of a feed need a person: it went blind, or its signatures fail. Both are taken back when the
// feed is well again.
import type { EventDraft, FeedGrade } from '@svc/core';

export function raiseOnEdge(feed: string, from: FeedGrade | null, to: FeedGrade): EventDraft[] {
  const before = from && reasonOf(from);
  const now = reasonOf(to);
  if (before === now) return [];
  return [...(before ? [resolved(feed, before)] : []), ...(now ? [raised(feed, now, to)] : [])];
}

type Reason = 'auth-failing' | 'feed-blind';

function reasonOf({ grade, code }: FeedGrade): Reason | null {
  if (code === 'auth-failing') return 'auth-failing';
  return grade === 'blind' ? 'feed-blind' : null;
}

const base = { source: 'monitor', via: 'local', scope: {} } as const;

function raised(feed: string, reason: Reason, { why, remedy }: FeedGrade): EventDraft {
  const message = `The ${feed} feed: ${why ?? reason}`;
  return {
    ...base,
    event: 'comms.attention',
    detail: { reason, message, severity: 'high', feed, ...(remedy !== null && { remedy }) },
  };
}

function resolved(feed: string, reason: Reason): EventDraft {
  return {
    ...base,
    event: 'comms.attention_resolved',
    detail: { reason, message: `The ${feed} feed is well again`, feed },
  };
}
