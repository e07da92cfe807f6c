// A delivery as the stream keeps it: `length of the head | head JSON | raw body`. The body is never parsed
// and never encoded. A body that does not fit into one message lies in parts before it in the same stream;
// the head then names their sequences, and nothing follows it.
import type { Delivery } from '../engine/engine.ts';

/** Where the parts of a large body are, in order, and how many bytes they make. */
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

/** The body is a view of the message. Undefined for bytes that no relay wrote. */
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
