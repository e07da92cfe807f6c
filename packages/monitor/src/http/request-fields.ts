// The fields of a query or a body, by the names that the route's description has. One that there is not is refused.
import { type ApiFields, api } from '@svc/core';
import { z } from 'zod';
import { Failure } from '../errors.ts';

type FieldName<Described extends ApiFields> = keyof Described['shape'] & string;

/** No body is an empty one. */
export function fieldsOf<Described extends ApiFields>(
  given: unknown,
  described: Described,
): { [Field in FieldName<Described>]?: unknown } {
  if (given === undefined || given === null) return {};
  if (typeof given !== 'object' || Array.isArray(given))
    throw new Failure('usage', 'The body must be a JSON object.');
  const fields: { [Field in FieldName<Described>]?: unknown } = given;
  refuseUnknown(fields, Object.keys(described.shape));
  return fields;
}

export function refuseUnknown(given: unknown, known: readonly string[]): void {
  const unknown = Object.keys(given ?? {}).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new Failure('usage', `There is no ${JSON.stringify(unknown.slice(0, 60))}; ${wordsFor(known)}.`);
}

function wordsFor(names: readonly string[]): string {
  if (names.length === 0) return 'nothing can be given here';
  return names.length === 1 ? `there is ${names[0]}` : `there are ${names.join(', ')}`;
}

type TextField = z.ZodString | z.ZodOptional<z.ZodString>;

/** Undefined when it is not given; given, it is as the field of the route's description says, and not empty. */
export function textOf(name: string, value: unknown, described: TextField): string | undefined {
  if (value === undefined) return undefined;
  const field = described instanceof z.ZodOptional ? described.unwrap() : described;
  const read = field.safeParse(value);
  if (read.success && read.data !== '') return read.data;
  throw new Failure('usage', `${name}: expected a text of at most ${field.maxLength} characters.`);
}

/** Whoever says something may say who they are; the field is the same for every route. */
export function byOf(value: unknown): string {
  return textOf('by', value, api.pauseRun.body.shape.by) ?? 'a person';
}

export function neededText(name: string, value: unknown, described: TextField): string {
  const text = textOf(name, value, described);
  if (text !== undefined) return text;
  throw new Failure('usage', `${name} is needed.`);
}
