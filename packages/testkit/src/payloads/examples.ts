// A payload as a vendor sends it, and variants of it: always the same ones, never random.

export type JsonObject = { [name: string]: unknown };

/** `type` is the value of the event header. */
export type Example = { name: string; type: string; payload: JsonObject };
export type Delivery = Example & { deliveryId: string };

/** The example as delivery number `n`; the same number always gives the same id. */
export function withDelivery(example: Example, n: number): Delivery {
  return { ...example, deliveryId: `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}` };
}

/** A copy with some values replaced; a list is replaced as a whole. Everything else is shared, to save memory. */
export function patched(example: Example, name: string, patch: JsonObject): Example {
  return { name, type: example.type, payload: merged(example.payload, patch) };
}

function merged(base: JsonObject, patch: JsonObject): JsonObject {
  const result = { ...base };
  for (const [name, value] of Object.entries(patch)) {
    const current = base[name];
    result[name] = isJsonObject(value) && isJsonObject(current) ? merged(current, value) : value;
  }
  return result;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// The headers of a delivery without the signature, in lower case as in Node.

export function codehostHeaders(delivery: Delivery): Record<string, string> {
  return { 'x-codehost-event': delivery.type, 'x-codehost-delivery': delivery.deliveryId };
}

export function trackerHeaders(delivery: Delivery): Record<string, string> {
  return { 'tracker-event': delivery.type, 'tracker-delivery': delivery.deliveryId };
}
