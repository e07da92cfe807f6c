// What the tracker sends of a ticket and of what is said about it.
import type { JsonObject } from '../payloads/example.ts';
import { type PlannedTicket, PREFIX } from './product.ts';
import type { Voice } from './voice.ts';

export const ticketStates = {
  Backlog: 'backlog',
  Todo: 'unstarted',
  'In Progress': 'started',
  'In Review': 'started',
  Done: 'completed',
  Canceled: 'canceled',
} as const;
export type TicketStateName = keyof typeof ticketStates;

const team = { id: `team-${PREFIX}`, key: PREFIX, name: 'Tideline' };
const stateOf = (name: TicketStateName): JsonObject => ({
  id: stateId(name),
  name,
  type: ticketStates[name],
  color: '#8a8f98',
});
export const stateId = (name: TicketStateName): string => `state-${name.toLowerCase().replace(' ', '-')}`;
const ticketUrl = (ticket: string): string => `https://tracker.example/tideline/issue/${ticket}`;

function personOf(name: string, voice: Voice): JsonObject {
  return { id: `user-${name}`, name: voice.login(name), type: 'user' };
}

function issue(planned: PlannedTicket, state: TicketStateName, at: Date, voice: Voice): JsonObject {
  const { ticket, title, person, run } = planned;
  return {
    id: `issue-${ticket}`,
    identifier: ticket,
    number: Number(ticket.split('-')[1]),
    title: voice.title(title),
    priority: 1 + (planned.pr % 4),
    priorityLabel: ['Urgent', 'High', 'Medium', 'Low'][planned.pr % 4],
    state: stateOf(state),
    stateId: stateId(state),
    assignee: personOf(person, voice),
    assigneeId: `user-${person}`,
    team,
    teamId: team.id,
    labels: [{ id: 'label-1', name: voice.label(planned.repo === 'tideline/web' ? 'web' : 'api') }],
    project: run && { id: run.id, name: voice.title(run.name) },
    updatedAt: at.toISOString(),
    url: ticketUrl(ticket),
  };
}

/** `from` is the state before; without one the ticket is new. */
export function issuePayload(
  planned: PlannedTicket,
  state: TicketStateName,
  from: TicketStateName | null,
  at: Date,
  voice: Voice,
): JsonObject {
  return {
    action: from === null ? 'create' : 'update',
    type: 'Issue',
    data: issue(planned, state, at, voice),
    ...(from !== null && { updatedFrom: { stateId: stateId(from) } }),
    ...around(planned, planned.person, at, voice),
  };
}

export function commentPayload(
  planned: PlannedTicket,
  comment: { by: string; body: string },
  at: Date,
  voice: Voice,
): JsonObject {
  const { ticket, title } = planned;
  return {
    action: 'create',
    type: 'Comment',
    data: {
      id: `comment-${ticket}-${at.getTime()}`,
      body: voice.comment(comment.body),
      issueId: `issue-${ticket}`,
      issue: { id: `issue-${ticket}`, identifier: ticket, title: voice.title(title), team },
      user: personOf(comment.by, voice),
    },
    ...around(planned, comment.by, at, voice),
  };
}

function around({ ticket }: PlannedTicket, by: string, at: Date, voice: Voice): JsonObject {
  return {
    actor: personOf(by, voice),
    createdAt: at.toISOString(),
    url: ticketUrl(ticket),
    organizationId: 'org-tideline',
    webhookId: 'webhook-tideline',
    webhookTimestamp: at.getTime(),
  };
}
