// An issue-tracker delivery becomes an event. Nothing is refused but a payload that is no object: an unknown
// type or action is kept as `tracker.other`, a missing field is left out.
import type { EventActor, EventDraft } from '../log/event-line.ts';
import type { TrackerDetail } from '../log/tracker-details.ts';
import type { DeliveryMeta, Mapping } from './delivery.ts';
import { knownDetail, onlyKnown } from './only-known.ts';
import { asFields, type Fields, integerAt, numberAt, objectAt, textAt, timeAt } from './payload-fields.ts';
import { changesFrom } from './tracker-changes.ts';
import {
  cycleFields,
  projectFields,
  reactionFields,
  ticketCommentFields,
  ticketFields,
  ticketLabelFields,
} from './tracker-entities.ts';
import { trackerTopic } from './tracker-topic.ts';

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
