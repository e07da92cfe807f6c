// What a poll found, for `svc feeds check --repair`.
import type { ApiAnswer } from '../../kernel/http/api-route.ts';
import type { api } from '../api.ts';

/** What a poll now of a feed found. */
export type PolledFeed = ApiAnswer<typeof api.checkFeeds>['polled'][number];

export function unpolled(
  feed: PolledFeed['feed'],
  state: 'disabled' | 'failed' | 'running',
  { why, remedy }: { why: string; remedy: string | null },
): PolledFeed {
  const name = feed === 'codehost' ? 'code host' : 'tracker';
  return { feed, name, state, checked: null, newEvents: null, why, remedy };
}
