// Reads the parameters, query or body of a request with the schema that documents them. A problem names the field and
// the expected value.
import { z } from 'zod';
import { expectedIn, fieldAt, ownMessages, plainSchema } from '../expected.ts';
import type { ApiFields } from './route.ts';

export type ReadFields<Schema extends ApiFields> =
  | { ok: true; fields: z.output<Schema> }
  | { ok: false; problem: string };

/** A missing body counts as an empty one. */
export function readFields<Schema extends ApiFields>(schema: Schema, given: unknown): ReadFields<Schema> {
  const read = schema.safeParse(given ?? {}, ownMessages);
  if (read.success) return { ok: true, fields: read.data };
  const { issues } = read.error;
  // A misspelt field is also missing: report the misspelling.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  return {
    ok: false,
    problem: issue === undefined ? 'The request cannot be read.' : problemOf(schema, issue),
  };
}

/** In a URL every value is text; a field described as a number is converted. */
export function readQuery<Schema extends ApiFields>(schema: Schema, given: object): ReadFields<Schema> {
  const values = Object.entries(given).map(([name, value]: [string, unknown]) => {
    const isNumber = plainSchema(schema.shape[name]) instanceof z.ZodNumber;
    return [name, isNumber && typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value];
  });
  return readFields(schema, Object.fromEntries(values));
}

function problemOf(schema: ApiFields, issue: z.core.$ZodIssue): string {
  const name = z.core.toDotPath(issue.path);
  const field = fieldAt(schema, issue.path);
  if (issue.code === 'unrecognized_keys') {
    const known = field instanceof z.ZodObject ? Object.keys(field.shape) : [];
    const [unknown = ''] = issue.keys;
    const where = name === '' ? '' : `${name}: `;
    return `${where}Unknown field ${JSON.stringify(unknown.slice(0, 60))}; ${listed(known)}.`;
  }
  if (name === '') return issue.message === '' ? 'The body must be a JSON object.' : `${issue.message}.`;
  if (issue.message !== '') return `${name}: ${issue.message}.`;
  return issue.input === undefined ? `${name} is required.` : `${name}: expected ${expectedIn(field)}.`;
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'no fields are allowed here';
  return `allowed: ${names.join(', ')}`;
}
