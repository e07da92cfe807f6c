// A family of topics: its names, the schema that their details share, and fields that many details have.
import { z } from 'zod';

/** The base of every detail. Unknown fields are allowed: a newer version may have written them. */
export const Detail = z.object({
  cut: z.array(z.string()).optional().describe('paths of the fields that were cut to fit the size limit'),
});

// Fields that many details have.

export const text = z.string().optional();
export const count = z.int().nonnegative().optional();
export const time = z.iso.datetime({ offset: true }).optional();

export function topicFamily<Prefix extends string, Name extends string, Schema extends z.ZodType>(
  prefix: Prefix,
  names: readonly Name[],
  schema: Schema,
): Record<`${Prefix}.${Name}`, Schema>;
export function topicFamily(
  prefix: string,
  names: readonly string[],
  schema: z.ZodType,
): Record<string, z.ZodType> {
  return Object.fromEntries(topicsIn(prefix, names).map((topic) => [topic, schema]));
}

/** `topicsIn('codehost.pr', ['opened', 'closed'])` */
export function topicsIn<Prefix extends string, Name extends string>(
  prefix: Prefix,
  names: readonly Name[],
): `${Prefix}.${Name}`[] {
  return names.map((name): `${Prefix}.${Name}` => `${prefix}.${name}`);
}
