// Which type of code-host event a delivery is. The body does not say; the event header does. When a relay
// has lost the header, the shape of the payload tells the ten subscribed types apart.
import { asFields, type Fields, hasObject } from './payload-fields.ts';

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

export type CodehostEventType = (typeof codehostEventTypes)[number];

/** The order matters: each shape holds what tells the next one, so the fuller shape comes first. */
const shapes: readonly (readonly [CodehostEventType | 'ping', (payload: Fields) => boolean])[] = [
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
  ['push', (payload) => isText(payload, 'ref') && isText(payload, 'before') && isText(payload, 'after')],
  ['status', (payload) => isText(payload, 'sha') && isText(payload, 'state') && isText(payload, 'context')],
  ['ping', (payload) => isText(payload, 'zen') && 'hook_id' in payload],
];

const typeName = /^[a-z][a-z0-9_]{0,63}$/;

/** The type that the header names, else the one that the payload shows; undefined when neither tells. */
export function codehostEventType(header: string | undefined, payload: unknown): string | undefined {
  if (header !== undefined) return typeName.test(header) ? header : undefined;
  const fields = asFields(payload);
  return fields && shapes.find(([, fitsShape]) => fitsShape(fields))?.[0];
}

function isText(payload: Fields, name: string): boolean {
  return typeof payload[name] === 'string';
}
