// What the receiver knows about a delivery before it reads the payload, and the result of the mapping.
import type { EventDraft } from '../log/event-line.ts';
import type { GithubTracker } from '../tracker/tracker-of.ts';

export type DeliveryMeta = Required<Pick<EventDraft, 'deliveryId' | 'via'>> & {
  relay?: EventDraft['relay'];
  /** Ticket prefixes of the configured projects; without them, only obvious ticket ids are found. */
  ticketPrefixes?: readonly string[] | undefined;
  /** Repositories whose issues are tickets. */
  trackedRepos?: readonly GithubTracker[] | undefined;
};

/** Only a payload that is not a JSON object cannot be mapped. */
export type Mapping = { ok: true; draft: EventDraft } | { ok: false; problem: string };
