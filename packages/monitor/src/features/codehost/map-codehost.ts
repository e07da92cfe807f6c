// Maps a code-host delivery to an event. Only a payload that is not an object is refused: an unknown type or action is
// kept as `codehost.other`, a missing field is left out.
import {
  asFields,
  type Fields,
  hasObject,
  knownDetail,
  objectAt,
  onlyKnown,
  textAt,
} from '@svc/contract/payload-fields';
import type { EventActor, EventContent, EventDraft } from '../../kernel/log/event-line.ts';
import type { DeliveryMeta, Mapping } from '../feeds/delivery.ts';
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
  const issue = meta.ticketFact?.(type, fields);
  const fact = issue === undefined ? readerOf.get(type)?.(fields, action) : undefined;
  const draft: EventDraft = {
    ...(issue?.content ?? fact?.content ?? otherContent(type, action)),
    source: 'codehost.webhook',
    via: meta.via,
    deliveryId: meta.deliveryId,
    occurredAt: issue?.occurredAt ?? fact?.occurredAt,
    relay: meta.relay,
    scope: issue === undefined ? scopeOf(fields, fact, meta) : ticketScope(fields, issue.ticket),
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

function ticketScope(payload: Fields, ticket: string | undefined): EventDraft['scope'] {
  return onlyKnown({ repo: textAt(objectAt(payload, 'repository'), 'full_name'), ticket });
}

function actorOf(payload: Fields): EventActor | undefined {
  const sender = objectAt(payload, 'sender');
  const login = textAt(sender, 'login');
  return login === undefined ? undefined : onlyKnown({ login, type: textAt(sender, 'type') });
}

function otherContent(type: string, action: string): EventContent {
  return { event: 'codehost.other', detail: knownDetail({ type, action: action || undefined }) };
}

// The type of a code-host delivery. It is in the event header, not in the body. If a relay lost the header, the shape of
// the payload distinguishes the ten subscribed types.

export const codehostEventTypes = [
  'pull_request',
  'pull_request_review',
  'pull_request_review_thread',
  'pull_request_review_comment',
  'check_suite',
  'status',
  'push',
  'issue_comment',
  'deployment',
  'deployment_status',
] as const;

type CodehostEventType = (typeof codehostEventTypes)[number];

/** The order matters: a shape may include the fields of a later one, so the larger shape comes first. */
const shapes: readonly (readonly [CodehostEventType | 'issues' | 'ping', (payload: Fields) => boolean])[] = [
  ['deployment_status', (payload) => hasObject(payload, 'deployment_status')],
  [
    'deployment',
    (payload) => hasObject(payload, 'deployment') && (payload['action'] ?? 'created') === 'created',
  ],
  ['check_suite', (payload) => hasObject(payload, 'check_suite')],
  ['pull_request_review', (payload) => hasObject(payload, 'pull_request') && hasObject(payload, 'review')],
  [
    'pull_request_review_thread',
    (payload) => hasObject(payload, 'pull_request') && hasObject(payload, 'thread'),
  ],
  [
    'pull_request_review_comment',
    (payload) => hasObject(payload, 'pull_request') && hasObject(payload, 'comment'),
  ],
  ['pull_request', (payload) => hasObject(payload, 'pull_request') && 'number' in payload],
  ['issue_comment', (payload) => hasObject(payload, 'issue') && hasObject(payload, 'comment')],
  ['issues', (payload) => hasObject(payload, 'issue') && isText(payload, 'action')],
  ['push', (payload) => isText(payload, 'ref') && isText(payload, 'before') && isText(payload, 'after')],
  ['status', (payload) => isText(payload, 'sha') && isText(payload, 'state') && isText(payload, 'context')],
  ['ping', (payload) => isText(payload, 'zen') && 'hook_id' in payload],
];

const typeName = /^[a-z][a-z0-9_]{0,63}$/;

/** The type in the header, else by the shape of the payload; undefined when neither is known. */
export function codehostEventType(header: string | undefined, payload: unknown): string | undefined {
  if (header !== undefined) return typeName.test(header) ? header : undefined;
  const fields = asFields(payload);
  return fields && shapes.find(([, fitsShape]) => fitsShape(fields))?.[0];
}

function isText(payload: Fields, name: string): boolean {
  return typeof payload[name] === 'string';
}

// The ticket that a branch or a title names. With the prefixes of the configured projects, an id counts anywhere as a
// separate word. Without them, only an obvious id counts: at the start of a segment of a branch name
// (`kim/eng-12-login`), or in capitals at the start of a title or in brackets; and never after a word that is commonly
// followed by a number (`utf-8`, `sha-256`, `patch-1`).

const anywhere = /(?<![A-Za-z0-9])([A-Za-z][A-Za-z0-9]{0,19})-(\d{1,7})(?!\.?[A-Za-z0-9])/g;
const atSegmentStart = /(?:^|\/)([A-Za-z][A-Za-z0-9]{1,9})-(\d{1,7})(?!\.?[A-Za-z0-9])/g;
const obviousInTitle = /(?:^|[[(])\s*([A-Z][A-Z0-9]{1,9})-(\d{1,7})(?!\.?[A-Za-z0-9])/g;

const everydayWords = new Set(
  (
    'AES BASE CVE DAY ES GHSA HTTP IEEE ISO ISSUE JAVA LEVEL MD MILESTONE NODE PART PATCH PHASE PR PYTHON ' +
    'RELEASE RFC ROUND SHA SPRINT STAGE STEP TASK TEST TLS UTF VERSION WAVE WEEK'
  ).split(' '),
);

const LONGEST_SEARCH = 300;

/** The ticket id in capitals, from the branch first. */
export function ticketNamed(
  branch: string | undefined,
  title: string | undefined,
  prefixes: readonly string[] = [],
): string | undefined {
  if (prefixes.length === 0) {
    const isLikely = (prefix: string): boolean => !everydayWords.has(prefix);
    return firstTicket(branch, atSegmentStart, isLikely) ?? firstTicket(title, obviousInTitle, isLikely);
  }
  const isOurs = (prefix: string): boolean => prefixes.some((ours) => ours.toUpperCase() === prefix);
  return firstTicket(branch, anywhere, isOurs) ?? firstTicket(title, anywhere, isOurs);
}

function firstTicket(
  text: string | undefined,
  pattern: RegExp,
  accepts: (prefix: string) => boolean,
): string | undefined {
  if (text === undefined || !text.includes('-')) return undefined;
  for (const [, prefix = '', number = ''] of text.slice(0, LONGEST_SEARCH).matchAll(pattern)) {
    if (accepts(prefix.toUpperCase())) return `${prefix.toUpperCase()}-${number}`;
  }
  return undefined;
}
