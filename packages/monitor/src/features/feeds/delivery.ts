// What the receiver knows about a delivery before it reads the payload, and the result of the mapping.
import type { Fields } from '@svc/contract/payload-fields';
import type { EventContent, EventDraft } from '../../kernel/log/event-line.ts';

/** Undefined if the delivery is not about a ticket. */
export type TicketFact = (
  type: string,
  payload: Fields,
) => { content: EventContent; ticket: string | undefined; occurredAt: string | undefined } | undefined;

export type DeliveryMeta = Required<Pick<EventDraft, 'deliveryId' | 'via'>> & {
  relay?: EventDraft['relay'];
  /** Ticket prefixes of the configured projects; without them, only obvious ticket ids are found. */
  ticketPrefixes?: readonly string[] | undefined;
  /** Reads deliveries of the code host that are about tickets. */
  ticketFact?: TicketFact | undefined;
};

/** Only a payload that is not a JSON object cannot be mapped. */
export type Mapping = { ok: true; draft: EventDraft } | { ok: false; problem: string };

// Parses signature headers. Computing and comparing signatures needs a key and is done by the receiver.

const codehostSignature = /^sha256=([0-9a-f]{64})$/i;
const trackerSignature = /^[0-9a-f]{64}$/i;

/** The hex digits after `sha256=` in lower case; undefined for any other header. */
export function parseCodehostSignature(header: string | undefined): string | undefined {
  return codehostSignature.exec(header ?? '')?.[1]?.toLowerCase();
}

/** The hex digits in lower case; undefined for any other header. */
export function parseTrackerSignature(header: string | undefined): string | undefined {
  return trackerSignature.exec(header ?? '')?.[0].toLowerCase();
}

// Whether deliveries of a feed can be verified, and how to fix it if not.

/** svc generates 64 characters; anything shorter than this could be guessed. */
export const SHORTEST_SECRET = 16;

export type FeedSecrets = {
  /** The variables named in the configuration of all projects. */
  variables: readonly string[];
  /** The values that verify deliveries. */
  values: readonly string[];
  /** The variables whose value is not used because it is too short. */
  short?: readonly string[];
};

export function secretProblem(
  feed: 'codehost' | 'tracker',
  { variables, values, short = [] }: FeedSecrets,
): { why: string; remedy: string } | undefined {
  if (short.length > 0)
    return {
      why: `${short.join(' and ')} ${short.length === 1 ? 'is' : 'are'} not used: a secret of fewer than ${SHORTEST_SECRET} characters could be guessed`,
      remedy: `Make a new one: svc setup-webhooks ${feed === 'tracker' ? '--linear-register ' : ''}--force; unset ${short.join(' ')} where it is exported; then: svc monitor restart`,
    };
  if (values.length > 0) return undefined;
  return {
    why: `no secret: ${variables.join(' and ')} not set`,
    remedy: `Set ${variables.join(' or ')} and run: svc monitor restart`,
  };
}
