// A payload of the code host in its full size: the published example of its type, with the tape's values in it.
import { publishedExamples } from '../payloads/codehost-examples.ts';
import { type Example, type JsonObject, patched } from '../payloads/example.ts';

const first = new Map<string, Example>();

function example(type: string): Example {
  const known = first.get(type) ?? publishedExamples().find((one) => one.type === type);
  if (known === undefined) throw new Error(`There is no published example of ${type}`);
  first.set(type, known);
  return known;
}

export function publishedPayload(type: string, values: JsonObject): JsonObject {
  return patched(example(type), type, values).payload;
}
