// A JSON Schema in words, for a cell of a table: `text`, `list of text`, `one of a, b`.
import { code, codes } from './markdown.ts';

export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema | JsonSchema[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  minimum?: number;
  maximum?: number;
  default?: unknown;
  definitions?: Record<string, JsonSchema>;
  $defs?: Record<string, JsonSchema>;
};

/** What `#/…/name` points at, in the document that holds it. */
export function resolved(schema: JsonSchema, root: object): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const found = schema.$ref
    .replace(/^#\//, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], root);
  if (found === undefined) throw new Error(`nothing is at ${schema.$ref}`);
  return resolved(found as JsonSchema, root);
}

/** How a schema that is referred to is named; undefined: it is told in words. */
type NameOf = (reference: string) => string | undefined;

export function typeWords(given: JsonSchema, root: object, nameOf: NameOf = () => undefined): string {
  const name = given.$ref === undefined ? undefined : nameOf(given.$ref);
  if (name !== undefined) return name;
  const schema = resolved(given, root);
  // How a description is put beside a reference.
  const [only, ...more] = schema.allOf ?? [];
  if (only !== undefined && more.length === 0) return typeWords(only, root, nameOf);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined)
    return [...new Set(choices.map((one) => typeWords(one, root, nameOf)))].join(' or ');
  if (schema.enum !== undefined) return `one of ${codes(schema.enum.map(String))}`;
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return schema.properties === undefined ? 'anything' : 'object';
  return types.map((type) => oneType(type, schema, root, nameOf)).join(' or ');
}

function oneType(type: string, schema: JsonSchema, root: object, nameOf: NameOf): string {
  if (type === 'string') return schema.format === 'date-time' ? 'time' : 'text';
  if (type === 'integer') return 'whole number';
  if (type === 'boolean') return 'true or false';
  if (type === 'array') {
    const [items] = [schema.items ?? []].flat();
    return items === undefined ? 'list' : `list of ${typeWords(items, root, nameOf)}`;
  }
  return type;
}
