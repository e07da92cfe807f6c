// One delivery in, one durable line out. The answers come in this order: no secret 503; signature missing
// or wrong 401; not JSON, no delivery id or no event type 400; (over the size limit 413, by the transport);
// log not writable 503; duplicate 200; accepted 200.
import { type DeliveryMeta, headerValue, type ReceivedHeaders } from '@svc/core';
import type { EventLog } from '../log/event-log.ts';
import { LogNotWritable } from '../log/log-errors.ts';
import type { Feed } from './feed.ts';
import { parsePayload } from './payload.ts';
import type { FeedSecrets } from './secrets.ts';
import { isSignedBy } from './signature.ts';

/** A tracker payload older than this was replayed, by the relay or by the sender. */
const FRESH_MS = 60_000;
const deliveryIdPattern = /^[\x21-\x7e]{1,200}$/;

export type Outcome = 'accepted' | 'duplicate' | RefusalCode;
export type RefusalCode =
  | 'no-secret'
  | 'bad-signature'
  | 'bad-payload'
  | 'no-delivery-id'
  | 'too-large'
  | 'busy'
  | 'internal'
  | 'log-not-writable';

export type Answer = { status: number; outcome: Outcome; body: object };
export type Delivery = {
  headers: ReceivedHeaders;
  body: Buffer;
  via?: DeliveryMeta['via'];
  relay?: DeliveryMeta['relay'];
};

export type Receiver = {
  feed: Feed;
  /** What can be answered from the headers alone, before the body is read. */
  refuseEarly: (headers: ReceivedHeaders) => Answer | undefined;
  receive: (delivery: Delivery) => Promise<Answer>;
  /** Counts an answer that the transport gives by itself. */
  refuse: (answer: Answer) => Answer;
};

export function createReceiver(options: {
  feed: Feed;
  secrets: FeedSecrets;
  log: Pick<EventLog, 'appendOnce'>;
  ticketPrefixes: readonly string[];
  now: () => number;
  onOutcome: (outcome: Outcome) => void;
}): Receiver {
  const { feed, secrets, log, ticketPrefixes, now } = options;
  const counted = (answer: Answer): Answer => {
    options.onOutcome(answer.outcome);
    return answer;
  };

  const refuseEarly = (headers: ReceivedHeaders): Answer | undefined => {
    if (secrets.values.length === 0) return counted(noSecret(feed, secrets));
    return feed.signatureIn(headers) === undefined ? counted(badSignature(feed)) : undefined;
  };

  const receive = async ({ headers, body, via = 'live', relay }: Delivery): Promise<Answer> => {
    const signature = feed.signatureIn(headers);
    if (secrets.values.length === 0) return noSecret(feed, secrets);
    if (signature === undefined || !isSignedBy(secrets.values, body, signature)) return badSignature(feed);
    const payload = parsePayload(body, textOf(headers['content-type']));
    if (!payload.ok) return refusal(400, 'bad-payload', `The delivery cannot be read: ${payload.problem}.`);
    const deliveryId = headerValue(headers, feed.deliveryHeader);
    if (deliveryId === undefined || !deliveryIdPattern.test(deliveryId)) {
      return refusal(400, 'no-delivery-id', `The ${feed.deliveryHeader} header is missing or malformed.`);
    }
    const sentAt = feed.sentAt(payload.value);
    const late = via === 'live' && sentAt !== undefined && now() - sentAt > FRESH_MS;
    const meta: DeliveryMeta = { deliveryId, via: late ? 'replay' : via, ticketPrefixes };
    if (relay !== undefined) meta.relay = relay;
    const mapping = feed.map(headers, payload.value, meta);
    if (!mapping.ok) return refusal(400, 'bad-payload', `The delivery cannot be read: ${mapping.problem}.`);
    try {
      const { id, duplicate } = await log.appendOnce(mapping.draft);
      return duplicate ? knownAlready(id) : accepted(mapping.draft.event, id);
    } catch (error) {
      if (!(error instanceof LogNotWritable)) throw error;
      return refusal(503, 'log-not-writable', error.message, error.remedy);
    }
  };

  return {
    feed,
    refuseEarly,
    receive: async (delivery) => counted(await receive(delivery)),
    refuse: counted,
  };
}

export function tooLarge(limitBytes: number): Answer {
  return refusal(413, 'too-large', `A delivery has at most ${limitBytes} bytes.`);
}

export function tooBusy(): Answer {
  return refusal(503, 'busy', 'Too many deliveries are under way.', 'Send it again.');
}

export function failedToAnswer(): Answer {
  return refusal(500, 'internal', 'The delivery could not be taken.', 'See: svc monitor logs');
}

function accepted(event: string, id: string): Answer {
  return { status: 200, outcome: 'accepted', body: { ok: true, event, id } };
}

function knownAlready(id: string): Answer {
  return { status: 200, outcome: 'duplicate', body: { ok: true, duplicate: true, id } };
}

function noSecret(feed: Feed, { variables }: FeedSecrets): Answer {
  const names = variables.join(' or ');
  return refusal(
    503,
    'no-secret',
    `No secret is configured for the ${feed.name} feed.`,
    `Set ${names} and restart the daemon.`,
  );
}

function badSignature(feed: Feed): Answer {
  return refusal(401, 'bad-signature', `The ${feed.signatureHeader} header is missing or does not match.`);
}

function refusal(status: number, code: RefusalCode, error: string, remedy?: string): Answer {
  return { status, outcome: code, body: { error, code, ...(remedy !== undefined && { remedy }) } };
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}
