// A delivery as it is sent: the exact bytes, and their signature.
import { createHmac } from 'node:crypto';
import { codehostExamples } from '../payloads/codehost-examples.ts';
import { codehostHeaders, type Delivery, type Example, withDelivery } from '../payloads/example.ts';
import type { Random } from '../random.ts';

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

// Thousands of deliveries: the published examples of all ten types in turn, each with its own id, some of them sent
// twice, all in random order.

/** Bodies and signatures are shared by all deliveries of an example: only the id differs. */
export function exampleDeliveries(count: number, secret: string): SignedDelivery[] {
  const signed = codehostExamples().map((example) => ({
    example,
    ...signedDelivery(withDelivery(example, 0), secret),
  }));
  return Array.from({ length: count }, (_, index) => {
    const { example, body, headers } = signed[index % signed.length] ?? fail();
    const { deliveryId } = withDelivery(example, index + 1);
    return { deliveryId, body, headers: { ...headers, 'x-codehost-delivery': deliveryId } };
  });
}

/** The sends: every delivery once, the given part of them twice. */
export function sentTwice<T>(deliveries: readonly T[], part: number, random: Random): T[] {
  const again = random.shuffled(deliveries).slice(0, Math.round(deliveries.length * part));
  return random.shuffled([...deliveries, ...again]);
}

function fail(): never {
  throw new Error('no examples');
}

// Deliveries of a given size that all our receivers accept: a push with a text in it.

const push = {
  ref: 'refs/heads/main',
  before: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
  after: '0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c',
  created: false,
  deleted: false,
  forced: false,
  repository: { id: 1296269, full_name: 'acme/web', default_branch: 'main' },
  pusher: { name: 'mona' },
  sender: { login: 'mona', type: 'User' },
  commits: [],
};

/** One for all ids: `withId(sizedDelivery(1024, secret), 7)`. */
export function sizedDelivery(bytes: number, secret: string): SignedDelivery {
  const missing = bytes - Buffer.byteLength(JSON.stringify({ ...push, padding: '' }));
  const payload = { ...push, padding: 'x'.repeat(Math.max(0, missing)) };
  const example: Example = { name: `push of ${bytes} bytes`, type: 'push', payload };
  return signedDelivery(withDelivery(example, 0), secret);
}

/** The same bytes and signature under another delivery id. */
export function withId(delivery: SignedDelivery, number: number): SignedDelivery {
  const deliveryId = `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
  return { ...delivery, deliveryId, headers: { ...delivery.headers, 'x-codehost-delivery': deliveryId } };
}
