// What one family of code-host events gives to the event line; `map-codehost.ts` adds what all share.
import type { EventDraft, EventScope } from '../log/event-line.ts';
import type { Fields } from './payload-fields.ts';

export type CodehostFact = {
  /** May lie outside the closed list when the code host publishes a new action. */
  topic: string;
  scope: EventScope;
  occurredAt: string | undefined;
  /** Where a ticket may be named, beside the branch. */
  title?: string | undefined;
  detail: EventDraft['detail'];
};

export type ReadFact = (payload: Fields, action: string) => CodehostFact;
