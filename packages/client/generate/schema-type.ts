// A JSON Schema as a TypeScript type. It knows what the description of the daemon uses, and refuses the rest: a
// schema that is not understood must not become a type that is wrong.

export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  description?: string;
  [other: string]: unknown;
};

/** What a type needs not say: bounds and formats of values. */
const silent = new Set([
  'description',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'minItems',
  'maxItems',
  'default',
]);
const understood = new Set([
  '$ref',
  'type',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'items',
  'properties',
  'required',
  'additionalProperties',
]);

/** What is given may say undefined where a field may be missing; what is answered is JSON, which cannot. */
export type Direction = 'given' | 'answered';

/** `schemaType({ type: ['string', 'null'] }, 'answered')` is `string | null`. */
export function schemaType(schema: JsonSchema, direction: Direction): string {
  const unknown = Object.keys(schema).find((word) => !understood.has(word) && !silent.has(word));
  if (unknown !== undefined)
    throw new Error(`the schema word ${unknown} has no type: ${JSON.stringify(schema)}`);
  if (schema.$ref !== undefined) return nameIn(schema.$ref);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const several = schema.anyOf ?? schema.oneOf;
  if (several !== undefined)
    return [...new Set(several.map((one) => schemaType(one, direction)))].join(' | ');
  if (Array.isArray(schema.type))
    return schema.type.map((type) => schemaType({ ...schema, type }, direction)).join(' | ');
  return plainType(schema, direction);
}

function plainType(schema: JsonSchema, direction: Direction): string {
  switch (schema.type) {
    case undefined:
      return 'unknown';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array': {
      const item = schemaType(schema.items ?? {}, direction);
      return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      return objectType(schema, direction);
  }
  throw new Error(`the schema type ${String(schema.type)} has no type`);
}

function objectType(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  direction: Direction,
): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    const type = schemaType(schema, direction);
    const more = mark === '' || direction === 'answered' || type === 'unknown' ? '' : ' | undefined';
    return `${comment(schema.description)}${key(name)}${mark}: ${type}${more};`;
  });
  const open = additionalProperties;
  // Beside named fields, an index must hold them too.
  const others =
    open === undefined || open === false
      ? []
      : [`[name: string]: ${fields.length > 0 || open === true ? 'unknown' : schemaType(open, direction)};`];
  if (fields.length + others.length === 0)
    return open === false ? 'Record<string, never>' : 'Record<string, unknown>';
  return `{\n${[...fields, ...others].join('\n')}\n}`;
}

export function comment(text: string | undefined): string {
  return text === undefined ? '' : `/** ${text.replaceAll('*/', '* /')} */\n`;
}

export function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function nameIn(reference: string): string {
  const name = /^#\/components\/schemas\/(\w+)$/.exec(reference)?.[1];
  if (name === undefined) throw new Error(`${reference} names no schema`);
  return name;
}
