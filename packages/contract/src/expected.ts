// What a schema expects at a place of a value, in words for the person who wrote the value.
import { z } from 'zod';

/** Messages in the schema are used, zod's own messages are not: they are empty. */
export const ownMessages = { error: () => '', reportInput: true } as const;

/** The schema at a path; undefined for a key that it does not know. */
export function fieldAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let field: z.core.$ZodType | undefined = schema;
  for (const part of path) {
    if (field instanceof z.ZodObject) field = plainSchema(field.shape[String(part)]);
    else if (field instanceof z.ZodArray) field = plainSchema(field.element);
    else return undefined;
  }
  return field;
}

/** Without the wrappers that make a field optional, give it a default or transform it. */
export function plainSchema(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
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

export function expectedIn(field: z.core.$ZodType | undefined): string {
  if (field instanceof z.ZodString)
    return field.maxLength === null ? 'a text' : `a text of at most ${field.maxLength} characters`;
  if (field instanceof z.ZodNumber) return expectedNumber(field);
  if (field instanceof z.ZodBoolean) return 'true or false';
  if (field instanceof z.ZodEnum) {
    const { options } = field;
    return options.length === 2 ? options.join(' or ') : `one of ${options.join(', ')}`;
  }
  if (field instanceof z.ZodISODateTime) return 'an ISO time like 2026-01-02T12:00:00Z';
  if (field instanceof z.ZodLiteral)
    return [...field.values].map((value) => JSON.stringify(value)).join(' or ');
  if (field instanceof z.ZodArray) return 'a list';
  return field instanceof z.ZodObject ? 'an object' : 'another value';
}

const isBounded = (bound: number): boolean => Math.abs(bound) < Number.MAX_SAFE_INTEGER;

function expectedNumber(field: z.ZodNumber): string {
  const { minValue, maxValue, isInt } = field;
  // The bound of `positive` is not a value that it takes.
  const isAbove = isInt && minValue !== null && !field.safeParse(minValue).success;
  const least = (minValue ?? Number.NEGATIVE_INFINITY) + Number(isAbove);
  const most = maxValue ?? Number.POSITIVE_INFINITY;
  const kind = isInt ? 'a whole number' : 'a number';
  if (isBounded(least) && isBounded(most)) return `${kind} from ${least} to ${most}`;
  if (isBounded(least)) return `${kind} of at least ${least}`;
  return isBounded(most) ? `${kind} of at most ${most}` : kind;
}

/** What is wrong first, as `field: expected …`; read with `ownMessages`. `whole`: what is wrong when it is no object. */
export function problemIn(
  schema: z.core.$ZodType,
  { issues }: z.ZodError,
  whole = 'expected a JSON object',
): string {
  // A misspelt field is also missing: the misspelling is reported.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue === undefined) return 'cannot be read';
  const name = z.core.toDotPath(issue.path);
  const field = fieldAt(schema, issue.path);
  if (issue.code === 'unrecognized_keys') {
    const known = field instanceof z.ZodObject ? Object.keys(field.shape) : [];
    const [unknown = ''] = issue.keys;
    const where = name === '' ? '' : `${name}: `;
    return `${where}Unknown field ${JSON.stringify(unknown.slice(0, 60))}; ${listed(known)}`;
  }
  if (name === '') return issue.message === '' ? whole : issue.message;
  if (issue.message !== '') return `${name}: ${issue.message}`;
  return issue.input === undefined ? `${name} is required` : `${name}: expected ${expectedIn(field)}`;
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'no fields are allowed here';
  return `allowed: ${names.join(', ')}`;
}
