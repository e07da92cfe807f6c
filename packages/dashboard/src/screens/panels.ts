// What features add to screens of others.

import type { RemedyCommand } from '../parts/remedy-command.ts';
import type { TicketPanel } from '../parts/ticket-panel.ts';
import { outboxRemedy } from './outbox/index.ts';
import { tracePanel } from './trace/index.ts';

export const ticketPanels: readonly TicketPanel[] = [tracePanel];

export const remedies: readonly RemedyCommand[] = [outboxRemedy];
