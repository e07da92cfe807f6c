// An issue-tracker delivery becomes an event. Nothing is refused but a payload that is no object: an unknown
// type or action is kept as `tracker.other`, a missing field is left out.

import { cutText } from '../log/cut-text.ts';
import type { EventActor, EventDraft } from '../log/event-line.ts';
import type { Topic } from '../log/topics.ts';
import type {
  CycleDetail,
  PreviousValue,
  ProjectDetail,
  ReactionDetail,
  TicketCommentDetail,
  TicketDetail,
  TicketLabelDetail,
  TicketState,
  TrackerDetail,
  TrackerPerson,
} from '../log/tracker-details.ts';
import type { DeliveryMeta, Mapping } from './delivery.ts';
import {
  asFields,
  type Fields,
  integerAt,
  knownDetail,
  namesAt,
  numberAt,
  objectAt,
  onlyKnown,
  textAt,
  timeAt,
} from './payload-fields.ts';

const readerOf: ReadonlyMap<string, (data: Fields) => TrackerDetail> = new Map([
  ['Issue', ticketFields],
  ['Comment', ticketCommentFields],
  ['Reaction', reactionFields],
  ['Cycle', cycleFields],
  ['IssueLabel', ticketLabelFields],
  ['Project', projectFields],
]);

/** `mapTracker(payload, { deliveryId, via: 'live' })` */
export function mapTracker(payload: unknown, meta: DeliveryMeta): Mapping {
  const fields = asFields(payload);
  if (fields === undefined) return { ok: false, problem: 'the payload is not a JSON object' };
  const type = textAt(fields, 'type') ?? '';
  const action = textAt(fields, 'action') ?? '';
  const data = objectAt(fields, 'data');
  const updatedFrom = objectAt(fields, 'updatedFrom');
  const topic = trackerTopic(type, action, updatedFrom);
  const read =
    topic === 'tracker.other'
      ? () => ({ type: type || undefined, action: action || undefined })
      : readerOf.get(type);
  const draft: EventDraft = {
    event: topic,
    source: 'tracker.webhook',
    via: meta.via,
    deliveryId: meta.deliveryId,
    occurredAt: timeAt(fields, 'createdAt'),
    relay: meta.relay,
    scope: onlyKnown({ ticket: ticketOf(type, data) }),
    actor: actorOf(objectAt(fields, 'actor')),
    detail: knownDetail({ ...sharedFields(fields, data), ...read?.(data), ...changesFrom(updatedFrom) }),
  };
  return { ok: true, draft: onlyKnown(draft) };
}

function sharedFields(payload: Fields, data: Fields): TrackerDetail {
  return {
    id: textAt(data, 'id'),
    url: textAt(payload, 'url') ?? textAt(data, 'url'),
    actorId: textAt(objectAt(payload, 'actor'), 'id'),
    webhookTimestamp: numberAt(payload, 'webhookTimestamp'),
  };
}

/** An issue names itself; everything else names the issue that it belongs to, where it belongs to one. */
function ticketOf(type: string, data: Fields): string | undefined {
  const issue = type === 'Issue' ? data : objectAt(data, 'issue');
  const identifier = textAt(issue, 'identifier');
  if (identifier !== undefined) return identifier;
  const team = textAt(objectAt(issue, 'team'), 'key');
  const number = integerAt(issue, 'number');
  return team === undefined || number === undefined ? undefined : `${team}-${number}`;
}

/** People and applications have a name, integrations only the service that they stand for. */
function actorOf(actor: Fields): EventActor | undefined {
  const login = textAt(actor, 'name') ?? textAt(actor, 'service') ?? textAt(actor, 'id');
  return login === undefined ? undefined : onlyKnown({ login, type: textAt(actor, 'type') });
}

// Which topic a tracker delivery has. An issue update that changed several fields has exactly one:
// state before priority before assignee before everything else.

const topicOf: ReadonlyMap<string, Topic> = new Map([
  ['Issue create', 'tracker.issue.created'],
  ['Issue update', 'tracker.issue.updated'],
  ['Issue remove', 'tracker.issue.removed'],
  ['Comment create', 'tracker.comment.created'],
  ['Comment update', 'tracker.comment.updated'],
  ['Comment remove', 'tracker.comment.removed'],
  ['Cycle create', 'tracker.cycle.created'],
  ['Cycle update', 'tracker.cycle.updated'],
  ['Cycle remove', 'tracker.cycle.removed'],
  ['Reaction create', 'tracker.reaction.created'],
  ['Reaction remove', 'tracker.reaction.removed'],
  ['IssueLabel create', 'tracker.issue_label.created'],
  ['IssueLabel update', 'tracker.issue_label.updated'],
  ['IssueLabel remove', 'tracker.issue_label.removed'],
  ['Project create', 'tracker.project.created'],
  ['Project update', 'tracker.project.updated'],
  ['Project remove', 'tracker.project.removed'],
]);

/** `updatedFrom` holds the previous values of the changed fields; a field counts by being there, even if null. */
export function trackerTopic(type: string, action: string, updatedFrom: Fields): Topic {
  const topic = topicOf.get(`${type} ${action}`) ?? 'tracker.other';
  if (topic !== 'tracker.issue.updated') return topic;
  if (Object.hasOwn(updatedFrom, 'stateId')) return 'tracker.issue.state_changed';
  if (Object.hasOwn(updatedFrom, 'priority')) return 'tracker.issue.priority_changed';
  if (Object.hasOwn(updatedFrom, 'assigneeId')) return 'tracker.issue.assignee_changed';
  return topic;
}

// The fields worth having of each kind of tracker entity, as it stands after the change.

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

// What an update changed, from the tracker's `updatedFrom`: the fields, and their previous values.

/** Also keeps out `__proto__`, which as a key of ours would be no field. */
const fieldName = /^[A-Za-z][A-Za-z0-9]{0,63}$/;
const MOST_FIELDS = 64;
const MOST_ITEMS = 100;
const LONGEST_TEXT = 256;
/** Changes with every update and so tells nothing. */
const alwaysChanged = 'updatedAt';

export type Changes = { changed?: string[]; previous?: Record<string, PreviousValue> };

/** A previous value that is an object is not kept; its field is still named in `changed`. */
export function changesFrom(updatedFrom: Fields): Changes {
  const changed: string[] = [];
  const previous: Record<string, PreviousValue> = {};
  for (const name in updatedFrom) {
    if (changed.length === MOST_FIELDS) break;
    if (name === alwaysChanged || !fieldName.test(name)) continue;
    changed.push(name);
    const value = plainValue(updatedFrom[name]);
    if (value !== undefined) previous[name] = value;
  }
  return changed.length === 0 ? {} : { changed, previous };
}

function plainValue(value: unknown): PreviousValue | undefined {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'string') return cutText(value, LONGEST_TEXT);
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, MOST_ITEMS).filter((item) => typeof item === 'string' && item.length <= LONGEST_TEXT);
}
