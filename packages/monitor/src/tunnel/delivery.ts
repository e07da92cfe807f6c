// From a frame of the relay to what a receiver takes.
import { type ReceivedHeaders, type RelayMessage, readRelayMessage } from '@svc/core';

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
