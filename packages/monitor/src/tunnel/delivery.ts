// From a frame of the relay to what a receiver takes.
import { type ReceivedHeaders, type RelayMessage, readRelayMessage } from '@svc/core';
import { createParser } from 'eventsource-parser';

/** The same limit as for a delivery over HTTP. */
const MAX_BODY_BYTES = 25 * 1024 * 1024;
/** The largest body in base64, with room for headers. */
export const MAX_FRAME_BYTES = 36 * 1024 * 1024;

export type TunnelDelivery = {
  headers: ReceivedHeaders;
  body: Buffer;
  /** The position up to which the channel is complete when this delivery is durable. */
  relay?: { channel: string; id: string };
};

/** What a receiver answers; 503 means that it can be tried again. */
export type ReceiverAnswer = { status: number; outcome: string };

/** The same function that `POST /api/webhook` calls. */
export type Receive = (delivery: TunnelDelivery) => Promise<ReceiverAnswer>;

export type ReadDelivery =
  | { ok: true; delivery: TunnelDelivery; exact: boolean }
  | { ok: false; why: 'malformed' | 'too-large'; problem: string };

export function readDelivery(data: string): ReadDelivery {
  const frame = readRelayMessage(data);
  if (!frame.ok) return { ok: false, why: 'malformed', problem: frame.problem };
  const { headers, exact, body: written } = frame.message;
  const body = bytesOf(written);
  if (body === undefined) return { ok: false, why: 'malformed', problem: 'the body is not base64' };
  if (body.length > MAX_BODY_BYTES)
    return { ok: false, why: 'too-large', problem: `the body has more than ${MAX_BODY_BYTES} bytes` };
  return { ok: true, delivery: { headers, body }, exact };
}

function bytesOf({ encoding, data }: RelayMessage['body']): Buffer | undefined {
  if (encoding === 'utf8') return Buffer.from(data);
  const bytes = Buffer.from(data, 'base64');
  // Node leaves out what is not base64; then the bytes are not those that were sent.
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return bytes.length === Math.floor(((data.length - padding) * 3) / 4) ? bytes : undefined;
}

// Frames out of the bytes of an event stream, within bounds: when more bytes come without a frame than the
// largest delivery can have, the stream is not one. (A byte parser of our own was measured against this
// library: it was no faster.)

export type StreamFrame = {
  /** `ready`, `ping`, …; undefined for a plain message. */
  event?: string | undefined;
  /** The id of this very frame; an earlier frame's is not inherited. */
  id?: string | undefined;
  data: string;
};

export type EventStream = {
  /** False when a frame is larger than allowed; nothing may be fed after that. */
  feed: (chunk: Uint8Array) => boolean;
};

/** So much of one large frame is a sign of life by itself; a trickle of bytes is none. */
const PROGRESS_BYTES = 64 * 1024;

export function createEventStream(options: {
  maxFrameBytes: number;
  onFrame: (frame: StreamFrame) => void;
  /** A comment, or a good part of a large frame. */
  onSignOfLife: () => void;
}): EventStream {
  const { maxFrameBytes, onFrame, onSignOfLife } = options;
  const decoder = new TextDecoder();
  let bytesOfFrame = 0;
  let bytesSinceSign = 0;
  const heard = (): void => {
    bytesOfFrame = 0;
    bytesSinceSign = 0;
  };
  const parser = createParser({
    onEvent(frame) {
      heard();
      onFrame(frame);
    },
    onComment() {
      heard();
      onSignOfLife();
    },
  });
  return {
    feed(chunk) {
      bytesOfFrame += chunk.length;
      bytesSinceSign += chunk.length;
      parser.feed(decoder.decode(chunk, { stream: true }));
      if (bytesSinceSign > PROGRESS_BYTES) {
        bytesSinceSign = 0;
        onSignOfLife();
      }
      return bytesOfFrame <= maxFrameBytes;
    },
  };
}
