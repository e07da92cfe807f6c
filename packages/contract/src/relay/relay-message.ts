// One delivery as a relay passes it on: a JSON object with the sender's headers as top-level keys, and
// `body` (parsed JSON), `query` and `timestamp` beside them. A relay that keeps the bytes adds them as
// `bodyB` (base64) or `rawdata` (text). Anyone who has the channel's URL can send anything: nothing is trusted.
import { parsedJson } from '../payload-fields.ts';

/** Headers of one connection, of the relay, or without meaning for a receiver. They are not forwarded. */
const staying: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Keys of the layout itself; a header of the same name cannot be distinguished from them. */
const layoutKeys: ReadonlySet<string> = new Set(['body', 'query', 'timestamp', 'bodyb', 'rawdata']);
const headerName = /^[a-z0-9][a-z0-9_.-]{0,99}$/;
const MAX_HEADERS = 100;
const MAX_HEADER_CHARACTERS = 8 * 1024;

export type RelayMessage = {
  headers: Record<string, string>;
  body: { encoding: 'base64' | 'utf8'; data: string };
  /** Whether the body is what the sender signed, byte for byte. Otherwise its JSON was serialised again. */
  exact: boolean;
  /** When the relay accepted it, in milliseconds. */
  timestamp: number | null;
};

export type RelayFrame = { ok: true; message: RelayMessage } | { ok: false; problem: string };

/** `readRelayMessage('{"x-github-event":"ping","body":{"zen":"…"},"query":{},"timestamp":1794700240288}')` */
export function readRelayMessage(data: string): RelayFrame {
  const frame = parsedJson(data);
  if (!isRecord(frame)) return { ok: false, problem: 'the frame is not a JSON object' };
  const headers = travellingHeaders(frame);
  const timestamp = typeof frame['timestamp'] === 'number' ? frame['timestamp'] : null;
  const bytes = frame['bodyB'];
  if (typeof bytes === 'string')
    return {
      ok: true,
      message: { headers, body: { encoding: 'base64', data: bytes }, exact: true, timestamp },
    };
  const raw = frame['rawdata'];
  if (typeof raw === 'string')
    return { ok: true, message: { headers, body: { encoding: 'utf8', data: raw }, exact: true, timestamp } };
  const text = written(frame['body']);
  if (text === undefined) return { ok: false, problem: 'the frame has no body' };
  // A form at the sender is JSON here.
  headers['content-type'] = 'application/json';
  return { ok: true, message: { headers, body: { encoding: 'utf8', data: text }, exact: false, timestamp } };
}

function travellingHeaders(frame: Readonly<Record<string, unknown>>): Record<string, string> {
  const headers: Record<string, string> = {};
  let count = 0;
  for (const [name, value] of Object.entries(frame)) {
    if (count === MAX_HEADERS) break;
    if (!headerName.test(name) || staying.has(name) || layoutKeys.has(name)) continue;
    const text = headerText(value);
    if (text === undefined) continue;
    headers[name] = text;
    count += 1;
  }
  return headers;
}

function headerText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value.length > MAX_HEADER_CHARACTERS) return undefined;
  return /[\0\r\n]/.test(value) ? undefined : value;
}

/** Undefined if there is nothing to write, or it is nested too deep. */
function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
