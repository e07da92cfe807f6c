// A panel that a feature adds to the page of a ticket.
import type { ComponentType } from 'react';

export type TicketPanel = ComponentType<{
  ticket: string;
  run: string | undefined;
  /** Whether what the worker did is proved. */
  isProven: boolean;
}>;
