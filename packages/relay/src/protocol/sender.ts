// What is known of a sender by its headers: how long it waits for an answer, and the id by which its
// delivery is told from a repeated one.
import { headerValue, type ReceivedHeaders } from '@svc/core';

/** The tracker gives up after 5 s, the code host after 10 s: each is answered before that. */
const TRACKER_PATIENCE_MS = 3000;
const OTHER_PATIENCE_MS = 8000;
const MAX_ID_CHARACTERS = 200;
/** Names under which other senders give the id of a delivery. */
const otherIds = ['webhook-id', 'svix-id', 'x-gitlab-event-uuid'];

/** How long the relay may take to answer, from the arrival of the request. */
export function senderPatienceMs(headers: ReceivedHeaders): number {
  const tracker =
    headerValue(headers, 'Tracker-Delivery') ??
    headerValue(headers, 'Tracker-Signature') ??
    headerValue(headers, 'Tracker-Event');
  return tracker === undefined ? OTHER_PATIENCE_MS : TRACKER_PATIENCE_MS;
}

/**
 * The delivery id that the sender gave, safe as a NATS header value; undefined when it gave none, so that
 * nothing is taken for a repetition by mistake.
 */
export function messageIdOf(headers: ReceivedHeaders): string | undefined {
  const id =
    headerValue(headers, 'X-Codehost-Delivery') ??
    headerValue(headers, 'Tracker-Delivery') ??
    otherIds.map((name) => textOf(headers[name])).find((text) => text !== undefined);
  if (id === undefined || id.length > MAX_ID_CHARACTERS) return undefined;
  return /^[\x21-\x7e]+$/.test(id) ? id : undefined;
}

function textOf(value: ReceivedHeaders[string]): string | undefined {
  const text = (typeof value === 'string' ? value : value?.[0])?.trim();
  return text === '' ? undefined : text;
}
