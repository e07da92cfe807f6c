// The parts of the relay's protocol besides the event stream: channel ids, positions, the sender's headers, which headers
// are passed on with a delivery, and the frame in which the stream stores it.
import { randomBytes } from 'node:crypto';
import { headerValue, type ReceivedHeaders } from '@svc/contract/vendor-names';
import type { Delivery, Position } from '../engine/engine.ts';

/** Anyone who knows a channel's id can send to it, so new ids must not be guessable. */
const accepted = /^[A-Za-z0-9_-]{1,128}$/;

/** 144 random bits: 24 characters without padding. */
export function newChannelId(random: (size: number) => Buffer = randomBytes): string {
  return random(18).toString('base64url');
}

/** Accepts also the shorter ids of older relays. They are safe in a URL path and in a NATS subject. */
export function isChannelId(text: string): boolean {
  return accepted.test(text);
}

const form = /^([A-Za-z0-9_]{1,48})(?:-([a-z0-9]{1,12}))?\.(\d{1,16})$/;

/** `formatPosition({ epoch: 'm3k9', seq: 17 })` is `m3k9.17`. */
export function formatPosition({ epoch, seq, check }: Position): string {
  return check === undefined ? `${epoch}.${seq}` : `${epoch}-${check}.${seq}`;
}

/** Undefined for anything else, such as the public relay's `17`. */
export function parsePosition(text: string | undefined): Position | undefined {
  const match = text === undefined ? null : form.exec(text);
  if (match === null) return undefined;
  const [, epoch = '', check, digits] = match;
  const seq = Number(digits);
  if (!Number.isSafeInteger(seq)) return undefined;
  return check === undefined ? { epoch, seq } : { epoch, seq, check };
}

/** Distinguishes the delivery with this message id from another with the same sequence: FNV-1a. */
export function checkOf(messageId: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < messageId.length; at += 1) {
    hash = Math.imul(hash ^ messageId.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

/** The tracker gives up after 5 s, the code host after 10 s: they are answered before that. */
const TRACKER_TIMEOUT_MS = 3000;
const OTHER_TIMEOUT_MS = 8000;
const MAX_ID_CHARACTERS = 200;
/** Headers with the delivery id of other senders. */
const otherIds = ['webhook-id', 'svix-id', 'x-gitlab-event-uuid'];

/** How long the relay may take to answer, from the arrival of the request. */
export function senderTimeoutMs(headers: ReceivedHeaders): number {
  const tracker =
    headerValue(headers, 'Tracker-Delivery') ??
    headerValue(headers, 'Tracker-Signature') ??
    headerValue(headers, 'Tracker-Event');
  return tracker === undefined ? OTHER_TIMEOUT_MS : TRACKER_TIMEOUT_MS;
}

/**
 * The sender's delivery id, safe as a NATS header value; undefined if there is none, so nothing is mistaken for a
 * repetition.
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

// Which headers of a POST are passed on to readers. Those of the connection, of proxies and of the sender's identity are
// not: a reader must never see a cookie or a credential that was meant for the relay.
const staying: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'cookie2',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'set-cookie',
  'set-cookie2',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-real-ip',
  'x-svc-relay-key',
]);
const stayingFamilies = ['proxy-', 'x-forwarded-', 'sec-', 'cf-'];
const MAX_HEADERS = 100;
const MAX_HEADER_CHARACTERS = 8 * 1024;

/** From Node's headers (lower case). Headers named in `Connection` are dropped too. At most 100 are passed on. */
export function travellingHeaders(received: ReceivedHeaders): Record<string, string> {
  const hopByHop = namedByConnection(received['connection']);
  const travelling: Record<string, string> = {};
  let count = 0;
  for (const name in received) {
    const value = received[name];
    if (value === undefined || staying.has(name) || hopByHop?.has(name) === true) continue;
    if (stayingFamilies.some((family) => name.startsWith(family))) continue;
    const text = typeof value === 'string' ? value : value.join(', ');
    if (text.length > MAX_HEADER_CHARACTERS) continue;
    travelling[name] = text;
    count += 1;
    if (count === MAX_HEADERS) break;
  }
  return travelling;
}

function namedByConnection(value: ReceivedHeaders[string]): ReadonlySet<string> | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' ? value : value.join(',');
  if (text === 'keep-alive' || text === 'close') return undefined;
  return new Set(text.split(',').map((name) => name.trim().toLowerCase()));
}

/** Where the parts of a large body are, in order, and their total size. */
export type BodyParts = { size: number; sequences: number[] };

export type StoredFrame = Omit<Delivery, 'body'> & { body: Buffer; parts: BodyParts | null };

const LENGTH_BYTES = 4;
const MAX_HEAD_BYTES = 2 * 1024 * 1024;

export function encodeFrame(delivery: Delivery): Buffer {
  return frameOf(headOf(delivery, null), delivery.body);
}

export function encodeFrameOfParts(delivery: Delivery, parts: BodyParts): Buffer {
  return frameOf(headOf(delivery, parts), null);
}

function headOf({ headers, query, receivedAt }: Delivery, parts: BodyParts | null): string {
  return parts === null
    ? JSON.stringify({ h: headers, q: query, t: receivedAt })
    : JSON.stringify({ h: headers, q: query, t: receivedAt, p: [parts.size, ...parts.sequences] });
}

function frameOf(head: string, body: Buffer | null): Buffer {
  const headBytes = Buffer.byteLength(head);
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + headBytes + (body?.length ?? 0));
  frame.writeUInt32BE(headBytes);
  frame.write(head, LENGTH_BYTES);
  body?.copy(frame, LENGTH_BYTES + headBytes);
  return frame;
}

/** The body is a view of the message. Undefined for bytes that are not a frame. */
export function decodeFrame(data: Uint8Array): StoredFrame | undefined {
  const frame = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (frame.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + frame.readUInt32BE(0);
  if (end > frame.length || end > MAX_HEAD_BYTES) return undefined;
  const head = parsed(frame.toString('utf8', LENGTH_BYTES, end));
  if (head === undefined) return undefined;
  const { h: headers, q: query, t: receivedAt, p: parts } = head;
  if (!isRecord(headers) || !isRecord(query) || typeof receivedAt !== 'number') return undefined;
  return {
    headers: headers as Record<string, string>,
    query: query as Record<string, string>,
    receivedAt,
    body: frame.subarray(end),
    parts: Array.isArray(parts) ? { size: Number(parts[0]), sequences: parts.slice(1).map(Number) } : null,
  };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
