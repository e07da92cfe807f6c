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
  if (field instanceof z.ZodNumber) return `a whole number from ${field.minValue} to ${field.maxValue}`;
  if (field instanceof z.ZodBoolean) return 'true or false';
  if (field instanceof z.ZodEnum) {
    const { options } = field;
    return options.length === 2 ? options.join(' or ') : `one of ${options.join(', ')}`;
  }
  if (field instanceof z.ZodArray) return 'a list';
  return field instanceof z.ZodObject ? 'an object' : 'another value';
}
