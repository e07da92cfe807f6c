// Maps an issue-tracker delivery to an event. Only a payload that is not an object is refused: an unknown type or action
// is kept as `tracker.other`, a missing field is left out.
import {
  asFields,
  type Fields,
  integerAt,
  knownDetail,
  listAt,
  namesAt,
  numberAt,
  objectAt,
  onlyKnown,
  textAt,
  timeAt,
} from '@svc/contract/payload-fields';
import { cutText } from '@svc/lib/cut-text';
import type { EventActor, EventContent, EventDraft } from '../../kernel/log/event-line.ts';
import type { DeliveryMeta, Mapping } from '../feeds/delivery.ts';
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
} from './topics.ts';

/** `mapTracker(payload, { deliveryId, via: 'live' })` */
export function mapTracker(payload: unknown, meta: DeliveryMeta): Mapping {
  const fields = asFields(payload);
  if (fields === undefined) return { ok: false, problem: 'the payload is not a JSON object' };
  const data = objectAt(fields, 'data');
  const draft: EventDraft = {
    ...contentOf(fields, data),
    source: 'tracker.webhook',
    via: meta.via,
    deliveryId: meta.deliveryId,
    occurredAt: timeAt(fields, 'createdAt'),
    relay: meta.relay,
    scope: onlyKnown({ ticket: ticketOf(textAt(fields, 'type'), data) }),
    actor: actorOf(objectAt(fields, 'actor')),
  };
  return { ok: true, draft: onlyKnown(draft) };
}

const doneBy: ReadonlyMap<string | undefined, 'created' | 'updated' | 'removed'> = new Map([
  ['create', 'created'],
  ['update', 'updated'],
  ['remove', 'removed'],
]);

function contentOf(payload: Fields, data: Fields): EventContent {
  const type = textAt(payload, 'type');
  const action = textAt(payload, 'action');
  const updatedFrom = objectAt(payload, 'updatedFrom');
  const detailWith = <Detail extends object>(fields: Detail): Detail =>
    knownDetail({ ...sharedFields(payload, data), ...fields, ...changesFrom(updatedFrom) });
  const done = doneBy.get(action);
  if (done !== undefined)
    switch (type ?? '') {
      case 'Issue':
        return {
          event: issueTopic(done, updatedFrom),
          detail: detailWith({ ...ticketFields(data), ...requestsIn(done, data, updatedFrom) }),
        };
      case 'Comment':
        return { event: `tracker.comment.${done}`, detail: detailWith(ticketCommentFields(data)) };
      case 'Cycle':
        return { event: `tracker.cycle.${done}`, detail: detailWith(cycleFields(data)) };
      case 'IssueLabel':
        return { event: `tracker.issue_label.${done}`, detail: detailWith(ticketLabelFields(data)) };
      case 'Project':
        return { event: `tracker.project.${done}`, detail: detailWith(projectFields(data)) };
      case 'Reaction':
        if (done === 'updated') break;
        return { event: `tracker.reaction.${done}`, detail: detailWith(reactionFields(data)) };
    }
  return { event: 'tracker.other', detail: detailWith({ type, action }) };
}

/**
 * An update of several fields has exactly one topic, in this order: state, priority, assignee, everything else.
 * `updatedFrom` holds the previous values; a field counts if it is present, even with null.
 */
function issueTopic(done: 'created' | 'updated' | 'removed', updatedFrom: Fields) {
  if (done !== 'updated') return `tracker.issue.${done}` as const;
  if (Object.hasOwn(updatedFrom, 'stateId')) return 'tracker.issue.state_changed';
  if (Object.hasOwn(updatedFrom, 'priority')) return 'tracker.issue.priority_changed';
  if (Object.hasOwn(updatedFrom, 'assigneeId')) return 'tracker.issue.assignee_changed';
  return 'tracker.issue.updated';
}

function sharedFields(payload: Fields, data: Fields): TrackerDetail {
  return {
    id: textAt(data, 'id'),
    url: textAt(payload, 'url') ?? textAt(data, 'url'),
    actorId: textAt(objectAt(payload, 'actor'), 'id'),
    webhookTimestamp: numberAt(payload, 'webhookTimestamp'),
  };
}

/** An issue's own identifier, or that of the issue that an entity belongs to. */
function ticketOf(type: string | undefined, data: Fields): string | undefined {
  const issue = type === 'Issue' ? data : objectAt(data, 'issue');
  const identifier = textAt(issue, 'identifier');
  if (identifier !== undefined) return identifier;
  const team = textAt(objectAt(issue, 'team'), 'key');
  const number = integerAt(issue, 'number');
  return team === undefined || number === undefined ? undefined : `${team}-${number}`;
}

/** People and applications have a name, integrations only a service. */
function actorOf(actor: Fields): EventActor | undefined {
  const login = textAt(actor, 'name') ?? textAt(actor, 'service') ?? textAt(actor, 'id');
  return login === undefined ? undefined : onlyKnown({ login, type: textAt(actor, 'type') });
}

// The fields kept from each kind of tracker entity, after the change.

function ticketFields(data: Fields): TicketDetail {
  return {
    title: textAt(data, 'title'),
    state: stateAt(data, 'state'),
    priority: numberAt(data, 'priority'),
    priorityLabel: textAt(data, 'priorityLabel'),
    assignee: personAt(data, 'assignee') ?? (data['assigneeId'] === null ? null : undefined),
    team: textAt(objectAt(data, 'team'), 'key'),
    teamId: textAt(data, 'teamId'),
    labels: namesAt(data, 'labels', 'name'),
    author: personWithId(data, 'creator'),
    project: textAt(objectAt(data, 'project'), 'name'),
    cycle: numberAt(objectAt(data, 'cycle'), 'number'),
    parentId: textAt(data, 'parentId'),
    estimate: numberAt(data, 'estimate'),
    dueDate: textAt(data, 'dueDate'),
  };
}

/** What this change itself set: labels that the ticket did not have before, and its new assignee. */
function requestsIn(
  done: 'created' | 'updated' | 'removed',
  data: Fields,
  updatedFrom: Fields,
): Pick<TicketDetail, 'labelsAdded' | 'assigned'> {
  const isSet = (field: string): boolean =>
    done === 'created' || (done === 'updated' && Object.hasOwn(updatedFrom, field));
  const before = new Set(listAt(updatedFrom, 'labelIds'));
  const added = listAt(data, 'labels').filter((label) => !before.has(textAt(asFields(label) ?? {}, 'id')));
  const labelsAdded = isSet('labelIds') ? namesAt({ added }, 'added', 'name') : undefined;
  return {
    labelsAdded: labelsAdded?.length === 0 ? undefined : labelsAdded,
    assigned: isSet('assigneeId') ? personAt(data, 'assignee') : undefined,
  };
}

function ticketCommentFields(data: Fields): TicketCommentDetail {
  return {
    body: textAt(data, 'body'),
    author: authorOf(data),
    issueId: textAt(data, 'issueId') ?? textAt(objectAt(data, 'issue'), 'id'),
    issueTitle: textAt(objectAt(data, 'issue'), 'title'),
    parentId: textAt(data, 'parentId'),
  };
}

function reactionFields(data: Fields): ReactionDetail {
  return {
    emoji: textAt(data, 'emoji'),
    author: authorOf(data),
    issueId: textAt(data, 'issueId') ?? textAt(objectAt(data, 'issue'), 'id'),
    commentId: textAt(data, 'commentId') ?? textAt(objectAt(data, 'comment'), 'id'),
  };
}

function cycleFields(data: Fields): CycleDetail {
  return {
    name: textAt(data, 'name'),
    number: numberAt(data, 'number'),
    startsAt: textAt(data, 'startsAt'),
    endsAt: textAt(data, 'endsAt'),
    completedAt: textAt(data, 'completedAt'),
    teamId: textAt(data, 'teamId'),
  };
}

function ticketLabelFields(data: Fields): TicketLabelDetail {
  return {
    name: textAt(data, 'name'),
    color: textAt(data, 'color'),
    teamId: textAt(data, 'teamId'),
    parentId: textAt(data, 'parentId'),
  };
}

function projectFields(data: Fields): ProjectDetail {
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

/** The person, or only the id if the payload has no more. */
function personWithId(data: Fields, name: string): TrackerPerson | undefined {
  const id = textAt(data, `${name}Id`);
  return personAt(data, name) ?? (id === undefined ? undefined : { id });
}

function stateAt(data: Fields, name: string): TicketState | undefined {
  const state = asFields(data[name]);
  return (
    state && onlyKnown({ id: textAt(state, 'id'), name: textAt(state, 'name'), type: textAt(state, 'type') })
  );
}

// What an update changed, from the tracker's `updatedFrom`: the fields, and their previous values.

/** Also excludes `__proto__`, which would not become a field. */
const fieldName = /^[A-Za-z][A-Za-z0-9]{0,63}$/;
const MOST_FIELDS = 64;
const MOST_ITEMS = 100;
const LONGEST_TEXT = 256;
/** Changes with every update. */
const alwaysChanged = 'updatedAt';

type Changes = { changed?: string[]; previous?: Record<string, PreviousValue> };

/** A previous value that is an object is not kept, but its field is listed in `changed`. */
function changesFrom(updatedFrom: Fields): Changes {
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
