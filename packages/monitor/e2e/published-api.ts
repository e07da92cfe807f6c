// Checks real responses against schemas/openapi.json: every response must match what is published, field by field.
// A response with an undescribed field is refused, just like one that lacks a field.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];
type Content = Record<string, { schema: JsonSchema }>;
export type PublishedOperation = {
  operationId: string;
  'x-cli'?: string[];
  parameters?: { name: string; in: string; required: boolean; schema: JsonSchema }[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { content?: Content; 'x-codes'?: string[] }>;
};
type Document = {
  paths: Record<string, Record<string, PublishedOperation>>;
  components: { schemas: Record<string, JsonSchema> };
};

const file = join(import.meta.dirname, '..', '..', '..', 'schemas', 'openapi.json');
export const published = JSON.parse(readFileSync(file, 'utf8')) as Document;

/** Such as `GET /api/board`. */
export const operations: ReadonlyMap<string, PublishedOperation> = new Map(
  Object.entries(published.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
    ),
  ),
);

/** JSON Schema looks for its definitions beside itself, and OpenAPI among its components. */
function judgeOf(schema: JsonSchema): z.ZodType {
  const whole = JSON.stringify({ ...(schema as object), $defs: published.components.schemas });
  return z.fromJSONSchema(JSON.parse(whole.replaceAll('#/components/schemas/', '#/$defs/')) as JsonSchema);
}

export function operationNamed(name: string): PublishedOperation {
  const found = operations.get(name);
  if (found === undefined) throw new Error(`${name} is not published`);
  return found;
}

/** Fails with what is wrong in the response. */
export function expectPublished(name: string, status: number, body: unknown): void {
  const { responses } = operationNamed(name);
  const response = responses[String(status)];
  if (response === undefined)
    throw new Error(`${name} is not described to return ${status}: ${JSON.stringify(body)}`);
  const [content] = Object.values(response.content ?? {});
  if (content === undefined) throw new Error(`${name} has no content for ${status}`);
  const judged = judgeOf(content.schema).safeParse(body);
  const words = judged.success
    ? ''
    : `${name} ${status}: ${z.prettifyError(judged.error)}\n${JSON.stringify(body).slice(0, 2_000)}`;
  expect(words).toBe('');
  const { code } = (typeof body === 'object' && body !== null ? body : {}) as { code?: unknown };
  if (status >= 400 && typeof code === 'string') expect(response['x-codes'], name).toContain(code);
}

export function expectSchema(name: string, value: unknown): void {
  const judged = judgeOf({ $ref: `#/components/schemas/${name}` }).safeParse(value);
  expect(judged.success ? '' : `${name}: ${z.prettifyError(judged.error)}`).toBe('');
}

/** The request must be one that is allowed. */
export function expectBodyPublished(name: string, body: unknown): void {
  const content = operationNamed(name).requestBody?.content['application/json'];
  if (content === undefined) throw new Error(`${name} is not described to take a body`);
  const judged = judgeOf(content.schema).safeParse(body);
  expect(judged.success ? '' : `${name}: ${z.prettifyError(judged.error)}`).toBe('');
}
