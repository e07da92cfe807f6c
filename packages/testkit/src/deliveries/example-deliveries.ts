// Deliveries by the thousand: the published examples of all ten types in turn, each with an id of its own,
// some of them sent twice, all in random order.
import { codehostExamples } from '../payloads/codehost-examples.ts';
import { withDelivery } from '../payloads/example.ts';
import type { Random } from '../random.ts';
import { type SignedDelivery, signedDelivery } from './signed-delivery.ts';

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
  throw new Error('There are no examples');
}
