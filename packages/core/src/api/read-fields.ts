// Reads the parameters, query or body of a request with the schema that documents them. A problem names the field and
// the expected value.
import { z } from 'zod';
import type { ApiFields } from './route.ts';

export type ReadFields<Schema extends ApiFields> =
  | { ok: true; fields: z.output<Schema> }
  | { ok: false; problem: string };

/** A missing body counts as an empty one. */
export function readFields<Schema extends ApiFields>(schema: Schema, given: unknown): ReadFields<Schema> {
  // Messages in the schema are used, zod's own messages are not.
  const read = schema.safeParse(given ?? {}, { error: () => '', reportInput: true });
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

function fieldAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let field: z.core.$ZodType | undefined = schema;
  for (const part of path) {
    if (field instanceof z.ZodObject) field = plainSchema(field.shape[String(part)]);
    else if (field instanceof z.ZodArray) field = plainSchema(field.element);
    else return undefined;
  }
  return field;
}

/** Without the wrappers that make a field optional, give it a default or transform it. */
function plainSchema(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
    return plainSchema(schema.unwrap());
  return schema instanceof z.ZodPipe ? plainSchema(schema.in) : schema;
}

function expectedIn(field: z.core.$ZodType | undefined): string {
  if (field instanceof z.ZodString)
    return field.maxLength === null ? 'a text' : `a text of at most ${field.maxLength} characters`;
  if (field instanceof z.ZodNumber) return `a whole number from ${field.minValue} to ${field.maxValue}`;
  if (field instanceof z.ZodBoolean) return 'true or false';
  if (field instanceof z.ZodEnum) {
    const { options } = field;
    return options.length === 2 ? options.join(' or ') : `one of ${options.join(', ')}`;
  }
  if (field instanceof z.ZodArray) return 'a list';
  return field instanceof z.ZodObject ? 'an object' : 'another value';
}
