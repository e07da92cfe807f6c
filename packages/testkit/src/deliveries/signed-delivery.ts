// A delivery as it goes over the wire: the exact bytes, and the signature over them.
import { createHmac } from 'node:crypto';
import { codehostHeaders } from '../payloads/delivery-headers.ts';
import type { Delivery } from '../payloads/example.ts';

export type SignedDelivery = { deliveryId: string; headers: Record<string, string>; body: Buffer };

function codehostSignature(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

export function signedDelivery(delivery: Delivery, secret: string): SignedDelivery {
  const body = Buffer.from(JSON.stringify(delivery.payload));
  return {
    deliveryId: delivery.deliveryId,
    headers: {
      'content-type': 'application/json',
      ...codehostHeaders(delivery),
      'x-hub-signature-256': codehostSignature(secret, body),
    },
    body,
  };
}
