// What changed in a ticket since its agent was given its text: a new title, a new body, or comments of other people. What
// was given is remembered as a digest in the log, so each change reaches the agent once, also after a restart.

import { utf8Length } from '@svc/lib/cut-text';
import type { TicketDigest } from '../workers/ticket-digest.ts';
import {
  boundedTicket,
  commentPart,
  fencedParts,
  leftOutWords,
  promptBounds,
  type TicketBounds,
  type TicketComment,
  type TicketContent,
  WRITTEN_BY_OTHERS,
} from './ticket-text.ts';

export const ticketParts = ['title', 'body', 'comments'] as const;

export type TicketPart = (typeof ticketParts)[number];

export function digestOf(
  { title, body, comments }: TicketContent,
  hash: (text: string) => string,
): TicketDigest {
  const lastCommentAt = comments.reduce<string | null>(
    (last, { at }) => (last === null || at > last ? at : last),
    null,
  );
  const lastComments = comments.filter(({ at }) => at === lastCommentAt).map(({ id }) => id);
  return { title: hash(title), body: hash(body ?? ''), lastCommentAt, lastComments: lastComments.slice(-20) };
}

/** Comments that svc, its agents or an integration wrote are no news. Undefined: nothing that the agent has to know. */
export function ticketChange(
  given: TicketDigest,
  now: TicketContent,
  hash: (text: string) => string,
): { changed: TicketPart[]; message: string } | undefined {
  const digest = digestOf(now, hash);
  const comments = now.comments.filter(
    ({ id, at, by }) => by === 'person' && isNewer(given, at) && !given.lastComments.includes(id),
  );
  const changed = ticketParts.filter((part) =>
    part === 'comments' ? comments.length > 0 : digest[part] !== given[part],
  );
  return changed.length === 0 ? undefined : { changed, message: messageOf(now, changed, comments) };
}

function isNewer({ lastCommentAt }: TicketDigest, at: string): boolean {
  return lastCommentAt === null || at >= lastCommentAt;
}

/** For the line in the log, as JSON. */
const MOST_BYTES = 40_000;

/** As much as fits into a line of the log. */
function messageOf(
  now: TicketContent,
  changed: readonly TicketPart[],
  comments: readonly TicketComment[],
): string {
  for (let share = 1; ; share /= 2) {
    const message = messageWithin(now, changed, comments, {
      ...promptBounds,
      body: Math.floor(10_000 * share),
      comments: 10,
      comment: Math.floor(promptBounds.comment * share),
    });
    if (share < 0.1 || utf8Length(JSON.stringify(message)) <= MOST_BYTES) return message;
  }
}

function messageWithin(
  now: TicketContent,
  changed: readonly TicketPart[],
  comments: readonly TicketComment[],
  bounds: TicketBounds,
): string {
  const { ticket } = now;
  const hasBody = changed.includes('body');
  const text = boundedTicket(
    { ...now, comments: [...comments], commentCount: comments.length, labels: [], links: [], criteria: [] },
    bounds,
  );
  const leftOut = text.leftOut
    .filter((part) => hasBody || !part.endsWith('the description'))
    .map((part) => part.replace(/comments$/, 'new comments'));
  const names = {
    title: 'its title',
    body: 'its description',
    comments: comments.length === 1 ? 'a new comment' : `${comments.length} new comments`,
  };
  const parts: [string, string?][] = [];
  if (changed.includes('title')) parts.push(['The new title:', text.title]);
  if (hasBody)
    parts.push(text.body === null ? ['The description was removed.'] : ['The new description:', text.body]);
  for (const comment of text.comments) parts.push([...commentPart(comment, 'A new comment:')]);
  if (leftOut.length > 0) parts.push([leftOutWords(ticket, leftOut)]);
  return [
    `The ticket ${ticket} was changed while you work on it: ${changed.map((part) => names[part]).join(', ')}. Compare it with what you have done, and continue with the ticket as it is now. The whole ticket: svc ticket show ${ticket}`,
    WRITTEN_BY_OTHERS,
    fencedParts(parts),
  ].join('\n\n');
}
