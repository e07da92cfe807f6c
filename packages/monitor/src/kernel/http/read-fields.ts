// Reads the parameters, query or body of a request with the schema that documents them. A problem names the field and
// the expected value.
import { ownMessages, plainSchema, problemIn } from '@svc/contract/expected';
import { z } from 'zod';
import type { ApiFields } from './api-route.ts';

export type ReadFields<Schema extends ApiFields> =
  | { ok: true; fields: z.output<Schema> }
  | { ok: false; problem: string };

/** A missing body counts as an empty one. */
export function readFields<Schema extends ApiFields>(schema: Schema, given: unknown): ReadFields<Schema> {
  const read = schema.safeParse(given ?? {}, ownMessages);
  if (read.success) return { ok: true, fields: read.data };
  const problem = problemIn(schema, read.error, 'The body must be a JSON object');
  return { ok: false, problem: `${problem}.` };
}

/** In a URL every value is text; a field described as a number is converted. */
export function readQuery<Schema extends ApiFields>(schema: Schema, given: object): ReadFields<Schema> {
  const values = Object.entries(given).map(([name, value]: [string, unknown]) => {
    const isNumber = plainSchema(schema.shape[name]) instanceof z.ZodNumber;
    return [name, isNumber && typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value];
  });
  return readFields(schema, Object.fromEntries(values));
}
