import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { apiTypes } from '../generate/api-types.ts';
import { type JsonSchema, schemaType } from '../generate/schema-type.ts';

test.each<[string, JsonSchema, string]>([
  ['a text or null', { type: ['string', 'null'], maxLength: 5 }, 'string | null'],
  ['one of several', { type: 'string', enum: ['a', 'b'] }, '"a" | "b"'],
  ['always the same', { type: 'boolean', const: true }, 'true'],
  ['a list of choices', { type: 'array', items: { enum: [1, 2] } }, '(1 | 2)[]'],
  ['a name', { $ref: '#/components/schemas/Board', description: 'x' }, 'Board'],
  ['alternatives, each once', { anyOf: [{ type: 'integer' }, { type: 'number' }] }, 'number'],
  ['a map', { type: 'object', additionalProperties: { type: 'integer' } }, '{\n[name: string]: number;\n}'],
  [
    'no fields at all',
    { type: 'object', properties: {}, additionalProperties: false },
    'Record<string, never>',
  ],
  ['anything', {}, 'unknown'],
])('%s', (_, schema, type) => {
  expect(schemaType(schema, 'answered')).toBe(type);
});

test('a field that may be missing may only be undefined where it is given', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { 'x-y': { type: 'string', description: 'a */ b' }, z: { type: 'null' } },
    required: ['z'],
  };
  expect(schemaType(schema, 'answered')).toBe('{\n/** a * / b */\n"x-y"?: string;\nz: null;\n}');
  expect(schemaType(schema, 'given')).toContain('"x-y"?: string | undefined;');
});

test('a word that has no type is refused, and not passed over', () => {
  expect(() => schemaType({ type: 'string', not: {} }, 'given')).toThrow('the schema word not has no type');
  expect(() => schemaType({ $ref: '#/elsewhere' }, 'given')).toThrow('names no schema');
});

test('operations by method and path; what is signed by its sender is no call of a client', () => {
  const responses = { 200: { content: { 'application/json': { schema: { type: 'string' } } } } };
  const operation = { operationId: 'x', summary: 'X', responses };
  const made = apiTypes({
    components: { schemas: {} },
    paths: {
      '/a/{b}': {
        get: {
          ...operation,
          parameters: [
            { name: 'b', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'n', in: 'query', required: false, schema: { type: 'integer' } },
          ],
        },
      },
      '/hook': {
        post: {
          ...operation,
          parameters: [{ name: 'Signature', in: 'header', required: true, schema: { type: 'string' } }],
        },
      },
    },
  });
  expect(made).toContain(
    '"/a/{b}": {\nparams: {\nb: string;\n};\nquery: {\nn?: number | string | undefined;\n} | undefined;',
  );
  expect(made).not.toContain('/hook');
});

test('the types are those of the published description', () => {
  const generate = join(import.meta.dirname, '..', 'generate.ts');
  expect(() => execFileSync(process.execPath, [generate, '--check'], { stdio: 'pipe' })).not.toThrow();
});
