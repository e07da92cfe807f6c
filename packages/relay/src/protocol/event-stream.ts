// The text of an event stream. Deliveries come in the public relay's shape (headers as top-level keys, then
// `body`, `query`, `timestamp`) or, with `?raw=1`, with the exact bytes in base64 as `bodyB`. Only deliveries
// carry an id: those of the public relay's `ready` and `ping` cannot be resumed from.
import { isUtf8 } from 'node:buffer';
import type { Delivery, Gap, Position, StoredDelivery } from '../engine/engine.ts';
import { formatPosition } from './frame.ts';

/** Keys of the layout itself: a header of the same name would be mistaken for them. */
const layoutKeys: ReadonlySet<string> = new Set(['body', 'query', 'timestamp', 'bodyb', 'rawdata']);
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

export const pingFrame = 'event: ping\ndata: {}\n\n';

/** The value of `X-Svc-Relay`: announces that ids are positions, and the heartbeat. */
export function relayAnnouncement(pingSeconds: number): string {
  return `1; ping=${pingSeconds}`;
}

/** Contains where the stream starts, and how soon to reconnect after a cut. */
export function readyFrame(at: Position, retryMs: number): string {
  return `retry: ${retryMs}\nevent: ready\ndata: {"position":"${formatPosition(at)}"}\n\n`;
}

export function gapFrame({ requested, oldest }: Gap): string {
  const data = {
    requested: formatPosition(requested),
    oldest: oldest === null ? null : formatPosition(oldest),
  };
  return `event: gap\ndata: ${JSON.stringify(data)}\n\n`;
}

/** With the original bytes in base64. */
export function rawMessageFrame({ position, delivery }: StoredDelivery): Buffer {
  const { before, after } = aroundRaw(position, delivery);
  const start = Buffer.byteLength(before);
  const middle = Math.ceil(delivery.body.length / 3) * 4;
  const frame = Buffer.allocUnsafe(start + middle + Buffer.byteLength(after));
  frame.write(before, 0);
  frame.write(delivery.body.toString('base64'), start, 'latin1');
  frame.write(after, start + middle);
  return frame;
}

function aroundRaw(position: Position, delivery: Delivery): { before: string; after: string } {
  return {
    before: `id: ${formatPosition(position)}\ndata: {${headerFields(delivery, false)}"bodyB":"`,
    after: `",${lastFields(delivery)}}\n\n`,
  };
}

/** A multiple of three bytes, so the base64 of the pieces can be concatenated. */
const PIECE_BYTES = 192 * 1024;

/** The same bytes in pieces, each made on demand: a large frame is never in memory as a whole. */
export function* messageFramePieces(stored: StoredDelivery, raw: boolean): Generator<Buffer, void> {
  const { position, delivery } = stored;
  const { before, after } = raw ? aroundRaw(position, delivery) : aroundPublic(position, delivery);
  const body = raw ? delivery.body : bodyAsJson(delivery.body);
  yield Buffer.from(before);
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    const piece = body.subarray(at, at + PIECE_BYTES);
    yield raw ? Buffer.from(piece.toString('base64'), 'latin1') : piece;
  }
  yield Buffer.from(after);
}

/** Like the public relay's, except that a JSON body is passed on unchanged. */
export function publicMessageFrame({ position, delivery }: StoredDelivery): Buffer {
  const { before, after } = aroundPublic(position, delivery);
  return Buffer.concat([Buffer.from(before), bodyAsJson(delivery.body), Buffer.from(after)]);
}

function aroundPublic(position: Position, delivery: Delivery): { before: string; after: string } {
  return {
    before: `id: ${formatPosition(position)}\ndata: {${headerFields(delivery, true)}"body":`,
    after: `,${lastFields(delivery)}}\n\n`,
  };
}

/** `content-encoding` is left out: it describes bytes that a public reader does not get. */
function headerFields({ headers }: Delivery, decoded: boolean): string {
  let fields = '';
  for (const name in headers) {
    if (layoutKeys.has(name) || (decoded && name === 'content-encoding')) continue;
    fields += `${JSON.stringify(name)}:${JSON.stringify(headers[name])},`;
  }
  return fields;
}

function lastFields({ query, receivedAt }: Delivery): string {
  return `"query":${JSON.stringify(query)},"timestamp":${receivedAt}`;
}

/** The bytes themselves if they are JSON; otherwise a string of the text, or of base64 if it is not text. */
function bodyAsJson(body: Buffer): Buffer {
  if (!isUtf8(body)) return Buffer.from(`"${body.toString('base64')}"`);
  const bytes = withoutByteOrderMark(body);
  const text = bytes.toString();
  return isJson(text) ? onOneLine(bytes) : Buffer.from(JSON.stringify(text));
}

function withoutByteOrderMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return false;
    throw error;
  }
}

/** A line break in JSON is always between tokens, where a space means the same. */
function onOneLine(json: Buffer): Buffer {
  if (!json.includes(LINE_FEED) && !json.includes(CARRIAGE_RETURN)) return json;
  const line = Buffer.from(json);
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === LINE_FEED || line[at] === CARRIAGE_RETURN) line[at] = SPACE;
  }
  return line;
}
