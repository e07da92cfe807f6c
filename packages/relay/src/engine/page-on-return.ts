// The first page after a position, for servers that cannot send several messages for one request. Most readers
// that come back have missed nothing or one delivery, so the channel's newest is asked for first: one request
// where nothing was missed, three at most for one delivery, and either way it is known that there is no more.
import type { Page, StoredMessage } from './page.ts';

type Ask = {
  last: () => Promise<StoredMessage | undefined>;
  /** The first at or after a sequence. */
  from: (seq: number) => Promise<StoredMessage | undefined>;
};

/** `hasCheck`: a delivery stands at the position. Otherwise the oldest that is kept says whether some were trimmed. */
export async function pageOnReturn(ask: Ask, after: number, hasCheck: boolean): Promise<Page> {
  const last = await ask.last();
  if (last === undefined || last.seq <= after)
    return {
      anchor: last?.seq === after ? last.check : null,
      ...(last !== undefined && { oldest: last.seq }),
      messages: [],
      end: true,
    };
  return hasCheck ? afterDelivery(ask, after, last) : afterNone(ask, after, last);
}

async function afterDelivery(ask: Ask, after: number, last: StoredMessage): Promise<Page> {
  const [at, next] = await Promise.all([ask.from(after), ask.from(after + 1)]);
  return { anchor: at?.seq === after ? at.check : null, ...follow(next, last) };
}

async function afterNone(ask: Ask, after: number, last: StoredMessage): Promise<Page> {
  const oldest = await ask.from(1);
  const next = oldest === undefined || oldest.seq > after ? oldest : await ask.from(after + 1);
  return { anchor: null, ...(oldest !== undefined && { oldest: oldest.seq }), ...follow(next, last) };
}

/** No answer comes from a replica that is behind: what it does not have yet comes live, or by the next check. */
function follow(next: StoredMessage | undefined, last: StoredMessage): Pick<Page, 'messages' | 'end'> {
  if (next === undefined) return { messages: [], end: true };
  return { messages: [next], end: next.seq === last.seq };
}
