// A code-host delivery becomes an event. Nothing is refused but a payload that is no object: an unknown
// type or action is kept as `codehost.other`, a missing field is left out.
import type { EventActor, EventContent, EventDraft } from '../log/event-line.ts';
import type { CodehostEventType } from './codehost-event-type.ts';
import {
  type CodehostFact,
  checkSuiteFact,
  commitStatusFact,
  deploymentFact,
  deploymentStatusFact,
  issueCommentFact,
  pullRequestFact,
  pushFact,
  type ReadFact,
  reviewCommentFact,
  reviewFact,
  reviewThreadFact,
} from './codehost-facts.ts';
import type { DeliveryMeta, Mapping } from './delivery.ts';
import { asFields, type Fields, knownDetail, objectAt, onlyKnown, textAt } from './payload-fields.ts';
import { ticketNamed } from './ticket-name.ts';

const readers: Record<CodehostEventType, ReadFact> = {
  pull_request: pullRequestFact,
  pull_request_review: reviewFact,
  pull_request_review_thread: reviewThreadFact,
  pull_request_review_comment: reviewCommentFact,
  check_suite: checkSuiteFact,
  status: commitStatusFact,
  push: pushFact,
  issue_comment: issueCommentFact,
  deployment: deploymentFact,
  deployment_status: deploymentStatusFact,
};
const readerOf: ReadonlyMap<string, ReadFact> = new Map(Object.entries(readers));

/** `mapCodehost('pull_request', payload, { deliveryId, via: 'live' })` */
export function mapCodehost(type: string, payload: unknown, meta: DeliveryMeta): Mapping {
  const fields = asFields(payload);
  if (fields === undefined) return { ok: false, problem: 'the payload is not a JSON object' };
  const action = textAt(fields, 'action') ?? '';
  const fact = readerOf.get(type)?.(fields, action);
  const draft: EventDraft = {
    ...(fact?.content ?? otherContent(type, action)),
    source: 'codehost.webhook',
    via: meta.via,
    deliveryId: meta.deliveryId,
    occurredAt: fact?.occurredAt,
    relay: meta.relay,
    scope: scopeOf(fields, fact, meta),
    actor: actorOf(fields),
  };
  return { ok: true, draft: onlyKnown(draft) };
}

function scopeOf(payload: Fields, fact: CodehostFact | undefined, meta: DeliveryMeta): EventDraft['scope'] {
  const scope = fact?.scope ?? {};
  return onlyKnown({
    repo: textAt(objectAt(payload, 'repository'), 'full_name'),
    ticket: ticketNamed(scope.branch ?? scope.ref, fact?.title, meta.ticketPrefixes),
    ...scope,
  });
}

function actorOf(payload: Fields): EventActor | undefined {
  const sender = objectAt(payload, 'sender');
  const login = textAt(sender, 'login');
  return login === undefined ? undefined : onlyKnown({ login, type: textAt(sender, 'type') });
}

function otherContent(type: string, action: string): EventContent {
  return { event: 'codehost.other', detail: knownDetail({ type, action: action || undefined }) };
}
