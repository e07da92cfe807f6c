// Turns a frame of the relay into a delivery for the receiver.
import { type RelayMessage, readRelayMessage } from '@svc/contract/relay/relay-message';
import type { ReceivedHeaders } from '@svc/contract/vendor-names';
import { createParser } from 'eventsource-parser';

/** The same limit as for a delivery over HTTP. */
const MAX_BODY_BYTES = 25 * 1024 * 1024;
/** The largest body in base64, plus space for headers. */
export const MAX_FRAME_BYTES = 36 * 1024 * 1024;

export type TunnelDelivery = {
  headers: ReceivedHeaders;
  body: Buffer;
  /** The position up to which the channel is complete when this delivery is durable. */
  relay?: { channel: string; id: string };
};

/** A receiver's answer; 503 means that a retry may succeed. */
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
  // Node skips characters that are not base64; then the bytes are not those that were sent.
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return bytes.length === Math.floor(((data.length - padding) * 3) / 4) ? bytes : undefined;
}

// Parses the bytes of an event stream into frames, within bounds: a stream that sends more bytes without a frame than
// the largest delivery can have is not an event stream. (Our own byte parser was not faster than this library.)

export type StreamFrame = {
  /** `ready`, `ping`, …; undefined for a plain message. */
  event?: string | undefined;
  /** The id of this frame; an earlier frame's id is not inherited. */
  id?: string | undefined;
  data: string;
};

export type EventStream = {
  /** False when a frame is larger than allowed; nothing may be fed after that. */
  feed: (chunk: Uint8Array) => boolean;
};

/** This much of one large frame counts as a sign of life; a trickle of bytes does not. */
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
  const signOfLife = (): void => {
    bytesOfFrame = 0;
    bytesSinceSign = 0;
  };
  const parser = createParser({
    onEvent(frame) {
      signOfLife();
      onFrame(frame);
    },
    onComment() {
      signOfLife();
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
