// The fields of a query or a body, by name. One that there is not is refused: a wish that is not heard would
// answer a question that nobody asked.
import { Failure } from '../errors.ts';

/** No body is an empty one. */
export function fieldsOf<Name extends string>(
  given: unknown,
  names: readonly Name[],
): { [Field in Name]?: unknown } {
  if (given === undefined || given === null) return {};
  if (typeof given !== 'object' || Array.isArray(given))
    throw new Failure('usage', 'The body must be a JSON object.');
  const fields: { [Field in Name]?: unknown } = given;
  const known: readonly string[] = names;
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown === undefined) return fields;
  const words = names.length === 1 ? `there is ${names[0]}` : `there are ${names.join(', ')}`;
  throw new Failure('usage', `There is no ${JSON.stringify(unknown.slice(0, 60))}; ${words}.`);
}

/** Undefined when it is not given; given, it is text of at most so many characters, and not empty. */
export function textOf(name: string, value: unknown, longest: number): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value !== '' && value.length <= longest) return value;
  throw new Failure('usage', `${name}: expected a text of at most ${longest} characters.`);
}

export function neededText(name: string, value: unknown, longest: number): string {
  const text = textOf(name, value, longest);
  if (text !== undefined) return text;
  throw new Failure('usage', `${name} is needed.`);
}
