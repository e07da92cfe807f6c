// The payloads of the bench: one published example of each of the ten types, brought to about 10 KB by leaving out
// links or adding a text.
import { codehostEventTypes, mapCodehost } from '../packages/monitor/src/features/codehost/map-codehost.ts';
import type { EventFields } from '../packages/monitor/src/kernel/log/event-line.ts';
import { codehostSecret } from '../packages/testkit/src/daemon/start-daemon.ts';
import { type SignedDelivery, signedDelivery } from '../packages/testkit/src/deliveries/signed-delivery.ts';
import { publishedExamples } from '../packages/testkit/src/payloads/codehost-variants.ts';
import { type Example, type JsonObject, withDelivery } from '../packages/testkit/src/payloads/examples.ts';

const BYTES = 10 * 1024;

export type BenchDelivery = SignedDelivery & { type: string; draft: EventFields };

export function tenKilobyteDeliveries(): BenchDelivery[] {
  return codehostEventTypes.map((type) => {
    const example = publishedExamples().find((candidate) => candidate.type === type);
    if (example === undefined) throw new Error(`no published example of ${type}`);
    const delivery = withDelivery(sized(example), 0);
    const mapping = mapCodehost(type, delivery.payload, { deliveryId: delivery.deliveryId, via: 'live' });
    if (!mapping.ok) throw new Error(mapping.problem);
    return { type, draft: mapping.draft, ...signedDelivery(delivery, codehostSecret) };
  });
}

function sized(example: Example): Example {
  const payload = structuredClone(example.payload);
  let bytes = bytesOf(payload);
  for (const [parent, name] of linksIn(payload)) {
    if (bytes <= BYTES) break;
    bytes -= Buffer.byteLength(JSON.stringify({ [name]: parent[name] })) - 1;
    delete parent[name];
  }
  const missing = BYTES - bytesOf(payload) - Buffer.byteLength(',"padding":""');
  if (missing > 0) payload['padding'] = 'x'.repeat(missing);
  return { ...example, payload };
}

function linksIn(object: JsonObject): [JsonObject, string][] {
  return Object.entries(object).flatMap(([name, value]): [JsonObject, string][] => {
    if (name.endsWith('_url') && name !== 'html_url') return [[object, name]];
    return typeof value === 'object' && value !== null ? linksIn(value as JsonObject) : [];
  });
}

function bytesOf(payload: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(payload));
}
