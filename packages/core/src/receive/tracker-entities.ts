// The fields worth having of each kind of tracker entity, as it stands after the change.
import type {
  CycleDetail,
  ProjectDetail,
  ReactionDetail,
  TicketCommentDetail,
  TicketDetail,
  TicketLabelDetail,
  TicketState,
  TrackerPerson,
} from '../log/tracker-details.ts';
import { onlyKnown } from './only-known.ts';
import { asFields, type Fields, namesAt, numberAt, objectAt, textAt } from './payload-fields.ts';

export function ticketFields(data: Fields): TicketDetail {
  return {
    title: textAt(data, 'title'),
    state: stateAt(data, 'state'),
    priority: numberAt(data, 'priority'),
    priorityLabel: textAt(data, 'priorityLabel'),
    assignee: personAt(data, 'assignee') ?? (data['assigneeId'] === null ? null : undefined),
    team: textAt(objectAt(data, 'team'), 'key'),
    teamId: textAt(data, 'teamId'),
    labels: namesAt(data, 'labels', 'name'),
    project: textAt(objectAt(data, 'project'), 'name'),
    cycle: numberAt(objectAt(data, 'cycle'), 'number'),
    parentId: textAt(data, 'parentId'),
    estimate: numberAt(data, 'estimate'),
    dueDate: textAt(data, 'dueDate'),
  };
}

export function ticketCommentFields(data: Fields): TicketCommentDetail {
  return {
    body: textAt(data, 'body'),
    author: authorOf(data),
    issueId: textAt(data, 'issueId') ?? textAt(objectAt(data, 'issue'), 'id'),
    issueTitle: textAt(objectAt(data, 'issue'), 'title'),
    parentId: textAt(data, 'parentId'),
  };
}

export function reactionFields(data: Fields): ReactionDetail {
  return {
    emoji: textAt(data, 'emoji'),
    author: authorOf(data),
    issueId: textAt(data, 'issueId') ?? textAt(objectAt(data, 'issue'), 'id'),
    commentId: textAt(data, 'commentId') ?? textAt(objectAt(data, 'comment'), 'id'),
  };
}

export function cycleFields(data: Fields): CycleDetail {
  return {
    name: textAt(data, 'name'),
    number: numberAt(data, 'number'),
    startsAt: textAt(data, 'startsAt'),
    endsAt: textAt(data, 'endsAt'),
    completedAt: textAt(data, 'completedAt'),
    teamId: textAt(data, 'teamId'),
  };
}

export function ticketLabelFields(data: Fields): TicketLabelDetail {
  return {
    name: textAt(data, 'name'),
    color: textAt(data, 'color'),
    teamId: textAt(data, 'teamId'),
    parentId: textAt(data, 'parentId'),
  };
}

export function projectFields(data: Fields): ProjectDetail {
  return {
    name: textAt(data, 'name'),
    state: stateAt(data, 'status'),
    lead: personAt(data, 'lead'),
    priority: numberAt(data, 'priority'),
    startDate: textAt(data, 'startDate'),
    targetDate: textAt(data, 'targetDate'),
  };
}

function authorOf(data: Fields): string | undefined {
  return textAt(objectAt(data, 'user'), 'name') ?? textAt(objectAt(data, 'externalUser'), 'name');
}

function personAt(data: Fields, name: string): TrackerPerson | undefined {
  const person = asFields(data[name]);
  return person && onlyKnown({ id: textAt(person, 'id'), name: textAt(person, 'name') });
}

function stateAt(data: Fields, name: string): TicketState | undefined {
  const state = asFields(data[name]);
  return (
    state && onlyKnown({ id: textAt(state, 'id'), name: textAt(state, 'name'), type: textAt(state, 'type') })
  );
}
