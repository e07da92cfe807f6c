// One delivery in, one durable line out. The checks run in this order: no secret 503; signature missing or wrong 401;
// not JSON, no delivery id or no event type 400; (over the size limit 413, by the transport); log not writable 503;
// duplicate 200; accepted 200.
import { isAscii, isUtf8 } from 'node:buffer';
import { headerValue, type ReceivedHeaders } from '@svc/contract/vendor-names';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import { LogNotWritable } from '../../../kernel/log/log-entry.ts';
import type { TicketFact } from '../delivery.ts';
import { type DeliveryMeta, type FeedSecrets, secretProblem } from '../delivery.ts';
import { SELF_TEST_HEADER } from '../feed-grade.ts';
import { type Feed, isSignedBy, signatureFingerprint } from './feed.ts';

// Parses raw bytes into a payload: JSON, or the code host's other content type, a form with the JSON in `payload`.

type Payload = { ok: true; value: unknown } | { ok: false; problem: string };

function parsePayload(body: Buffer, contentType: string | undefined): Payload {
  if (!isUtf8(body)) return { ok: false, problem: 'the body is not UTF-8' };
  // One-byte strings parse faster, and most payloads are plain ASCII.
  const text = body.toString(isAscii(body) ? 'latin1' : 'utf8');
  const isForm =
    contentType?.startsWith('application/x-www-form-urlencoded') === true && text.startsWith('payload=');
  const json = isForm ? (new URLSearchParams(text).get('payload') ?? '') : text;
  try {
    return { ok: true, value: JSON.parse(json.charCodeAt(0) === 0xfeff ? json.slice(1) : json) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError)
      return { ok: false, problem: 'the body is not JSON' };
    throw error;
  }
}

/** A tracker payload older than this was replayed by the relay or the sender. */
const FRESH_MS = 60_000;
const deliveryIdPattern = /^[\x21-\x7e]{1,200}$/;

export type Outcome = 'accepted' | 'duplicate' | 'self-test' | RefusalCode;
type RefusalCode =
  | 'no-secret'
  | 'bad-signature'
  | 'bad-payload'
  | 'no-delivery-id'
  | 'too-large'
  | 'busy'
  | 'cut-off'
  | 'internal'
  | 'log-not-writable';

export type Answer = { status: number; outcome: Outcome; body: object };
type Delivery = {
  headers: ReceivedHeaders;
  body: Buffer;
  via?: DeliveryMeta['via'];
  relay?: DeliveryMeta['relay'];
};

/** The result of examining a delivery: a line to log, or only an answer. */
type Examined = { draft: EventDraft; answer?: never } | { draft?: never; answer: Answer };

export type Receiver = {
  feed: Feed;
  /** The answer, if the headers alone decide it, before the body is read. */
  refuseEarly: (headers: ReceivedHeaders) => Answer | undefined;
  receive: (delivery: Delivery) => Promise<Answer>;
  /** Counts an answer that the transport sends itself. */
  refuse: (answer: Answer) => Answer;
};

export function createReceiver(options: {
  feed: Feed;
  secrets: () => FeedSecrets;
  log: Pick<EventLog, 'appendOnce'>;
  ticketPrefixes: () => readonly string[];
  ticketFact?: TicketFact;
  now: () => number;
  onOutcome: (outcome: Outcome) => void;
  /** How long an accepted delivery took, from its bytes to the durable line. */
  onAccepted?: (milliseconds: number) => void;
}): Receiver {
  const { feed, log, now } = options;
  const counted = (answer: Answer): Answer => {
    options.onOutcome(answer.outcome);
    return answer;
  };

  const refuseEarly = (headers: ReceivedHeaders): Answer | undefined => {
    const secrets = options.secrets();
    if (secrets.values.length === 0) return counted(noSecret(feed, secrets));
    return headerValue(headers, feed.signatureHeader) === undefined ? counted(badSignature(feed)) : undefined;
  };

  // Not async on purpose: what a function keeps across an await stays in memory until the disk has answered, and a parsed
  // payload is large. Here only the draft does.
  const examine = ({ headers, body, via = 'live', relay }: Delivery): Examined => {
    const signature = feed.signatureIn(headers);
    const secrets = options.secrets();
    if (secrets.values.length === 0) return { answer: noSecret(feed, secrets) };
    if (signature === undefined || !isSignedBy(secrets.values, body, signature))
      return { answer: badSignature(feed) };
    const payload = parsePayload(body, textOf(headers['content-type']));
    if (!payload.ok) return { answer: badPayload(payload.problem) };
    const deliveryId = headerValue(headers, feed.deliveryHeader);
    if (deliveryId === undefined || !deliveryIdPattern.test(deliveryId))
      return { answer: noDeliveryId(feed) };
    if (isSelfTest(headers, payload.value)) return { answer: selfTest() };
    const sentAt = feed.sentAt(payload.value);
    const late = via === 'live' && sentAt !== undefined && now() - sentAt > FRESH_MS;
    const ticketPrefixes = options.ticketPrefixes();
    const { ticketFact } = options;
    const meta: DeliveryMeta = { deliveryId, via: late ? 'replay' : via, ticketPrefixes, ticketFact };
    if (relay !== undefined) meta.relay = relay;
    const mapping = feed.map(headers, payload.value, meta);
    if (!mapping.ok) return { answer: badPayload(mapping.problem) };
    mapping.draft.signed = signatureFingerprint(signature);
    return { draft: mapping.draft };
  };

  const append = async (draft: EventDraft, started: number): Promise<Answer> => {
    try {
      const { id, duplicate } = await log.appendOnce(draft);
      if (!duplicate) options.onAccepted?.(performance.now() - started);
      return counted(duplicate ? knownAlready(id) : accepted(draft.event, id));
    } catch (error) {
      if (!(error instanceof LogNotWritable)) throw error;
      return counted(refusal(503, 'log-not-writable', error.message, error.remedy));
    }
  };

  const receive = (delivery: Delivery): Promise<Answer> => {
    const started = performance.now();
    const { draft, answer } = examine(delivery);
    return draft === undefined ? Promise.resolve(counted(answer)) : append(draft, started);
  };

  return { feed, refuseEarly, receive, refuse: counted };
}

export function tooLarge(limitBytes: number): Answer {
  return refusal(413, 'too-large', `A delivery has at most ${limitBytes} bytes.`);
}

export function tooBusy(): Answer {
  return refusal(503, 'busy', 'Too many deliveries are in progress.', 'Send it again.');
}

/** The sender is gone and does not receive it; it is counted anyway. */
export function cutOff(): Answer {
  return refusal(400, 'cut-off', 'The delivery was cut off.');
}

export function failedToAnswer(): Answer {
  return refusal(500, 'internal', 'The delivery could not be processed.', 'See: svc monitor logs');
}

function accepted(event: string, id: string): Answer {
  return { status: 200, outcome: 'accepted', body: { ok: true, event, id } };
}

function knownAlready(id: string): Answer {
  return { status: 200, outcome: 'duplicate', body: { ok: true, duplicate: true, id } };
}

/** By its signed body, not by the header alone, so no one in between can disguise a delivery as a self-test. */
function isSelfTest(headers: ReceivedHeaders, payload: unknown): boolean {
  const id = textOf(headers[SELF_TEST_HEADER]);
  if (id === undefined || typeof payload !== 'object' || payload === null) return false;
  return Reflect.get(payload, 'selfTest') === id;
}

/** A self-test that got this far has succeeded; it is not logged. */
function selfTest(): Answer {
  return { status: 200, outcome: 'self-test', body: { ok: true, selfTest: true } };
}

function noSecret(feed: Feed, secrets: FeedSecrets): Answer {
  const { why, remedy } = secretProblem(feed.name, secrets) ?? {};
  return refusal(503, 'no-secret', `The ${feed.name} feed cannot verify deliveries: ${why}.`, remedy);
}

function badPayload(problem: string): Answer {
  return refusal(400, 'bad-payload', `The delivery cannot be read: ${problem}.`);
}

function noDeliveryId(feed: Feed): Answer {
  return refusal(400, 'no-delivery-id', `The ${feed.deliveryHeader} header is missing or malformed.`);
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
