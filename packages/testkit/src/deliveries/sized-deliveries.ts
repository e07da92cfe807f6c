// Deliveries of a wanted size that every receiver of ours takes: a push with a text in it.
import type { Example } from '../payloads/example.ts';
import { withDelivery } from '../payloads/example.ts';
import { type SignedDelivery, signedDelivery } from './signed-delivery.ts';

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
