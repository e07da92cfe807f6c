// The phases of a ticket in the workflow.

/** The phases of a ticket in the workflow; `svc.tracker.stateMap` maps each to a tracker state. */
export const ticketPhases = [
  'backlog',
  'todo',
  'research',
  'planning',
  'inProgress',
  'inReview',
  'done',
  'canceled',
] as const;

export type TicketPhase = (typeof ticketPhases)[number];
