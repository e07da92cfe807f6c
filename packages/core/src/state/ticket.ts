// A ticket as the log tells it: what the tracker says, and the phase that our workflow is in.
import type { TicketPhase } from './effect.ts';
import type { Via } from './pull-request.ts';

export type Ticket = {
  ticket: string;
  title: string | null;
  url: string | null;
  state: { id: string | null; name: string | null; type: string | null } | null;
  assignee: string | null;
  priority: number | null;
  labels: string[];
  phase: { phase: TicketPhase; at: string; seq: number } | null;
  removed: boolean;
  /** When the newest that the tracker told was so; an older line does not take it back. */
  toldAt: string | null;
  /** How the tracker's last word came; `local` while it has said nothing. */
  via: Via;
  lastSeq: number;
  lastAt: string;
};
