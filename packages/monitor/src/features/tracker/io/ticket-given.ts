// The event that says what an agent was given of its ticket.
import { createHash } from 'node:crypto';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import { digestOf } from '../ticket-change.ts';
import type { TicketContent } from '../ticket-text.ts';

export type WorkerName = { orchestrator: string; ticket: string };

export const ours = { source: 'orchestrator' } as const;

/** What a new session of the agent starts with. */
export function ticketGiven({ orchestrator, ticket }: WorkerName, content: TicketContent): EventDraft {
  return draft(
    'orchestrator.ticket.given',
    { orchestrator, ticket },
    { digest: digestOf(content, hashOf) },
    ours,
  );
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
