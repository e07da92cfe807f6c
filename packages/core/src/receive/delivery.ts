// What the receiver knows of a delivery before it looks at the payload, and what becomes of it.
import type { EventDraft } from '../log/event-line.ts';

export type DeliveryMeta = Required<Pick<EventDraft, 'deliveryId' | 'via'>> & {
  relay?: EventDraft['relay'];
  /** Ticket prefixes of the configured projects; without them a ticket is found only where it is evident. */
  ticketPrefixes?: readonly string[] | undefined;
};

/** A payload that is not a JSON object is the one thing that cannot be mapped. */
export type Mapping = { ok: true; draft: EventDraft } | { ok: false; problem: string };
