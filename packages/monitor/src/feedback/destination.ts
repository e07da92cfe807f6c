// Where a ticket can be filed. Both destinations promise the same, so that the drain need not know which it is.
import type { Destination, FindingSeverity } from '@svc/core';

export type NewTicket = {
  /** Stands in the text, and finds the ticket again. */
  key: string;
  title: string;
  text: string;
  labels: readonly string[];
  severity: FindingSeverity;
};

export type FiledTicket = { filedAs: string; url: string };

export type TicketDestination = {
  name: Destination;
  /** In words: `team ABC of the issue tracker`. */
  words: string;
  /** Tickets that may be filed at once. */
  atOnce: number;
  /** Finds out whether tickets with these labels can be filed. Makes none. */
  prepare: (labels: readonly string[]) => Promise<void>;
  create: (ticket: NewTicket) => Promise<FiledTicket>;
  /** The ticket with this key, from an attempt not before `since` (milliseconds). */
  find: (key: string, since: number) => Promise<FiledTicket | undefined>;
};

/** What every function of a destination throws when it cannot do it. */
export class NotFiled extends Error {
  /** Whether it is certain that no ticket was made. */
  readonly certain: boolean;
  readonly remedy: string | undefined;

  constructor(message: string, options: { certain: boolean; remedy?: string | undefined; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'NotFiled';
    this.certain = options.certain;
    this.remedy = options.remedy;
  }
}

/**
 * Files a ticket once. An earlier attempt may have made it, and the answer to this one may be lost: then it is
 * looked for before it is asked for again.
 */
export async function fileOnce(
  destination: Pick<TicketDestination, 'create' | 'find'>,
  ticket: NewTicket,
  { attemptedAt, now }: { attemptedAt: number | undefined; now: () => number },
): Promise<FiledTicket> {
  const earlier = attemptedAt === undefined ? undefined : await destination.find(ticket.key, attemptedAt);
  if (earlier !== undefined) return earlier;
  const began = now();
  try {
    return await destination.create(ticket);
  } catch (error) {
    if (!(error instanceof NotFiled) || error.certain) throw error;
    return (await destination.find(ticket.key, began)) ?? (await destination.create(ticket));
  }
}
