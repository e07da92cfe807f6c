// `POST /api/graphql`: executes the operation against the schema beside this file. What the schema does not
// have is refused, so that a wrong query of ours fails in a test. Errors have the vendor's form: the type
// stands beside the message, and the rest of the answer still comes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, execute, GraphQLError, parse, validate } from 'graphql';
import type { JsonObject } from '../payloads/example.ts';
import type { Answer } from './answer.ts';
import type { CodehostCloud } from './cloud.ts';
import { createRoot } from './graphql-views.ts';

const schema = buildSchema(readFileSync(join(import.meta.dirname, 'schema.graphql'), 'utf8'));

export async function answerGraphql(cloud: CodehostCloud, body: JsonObject): Promise<Answer> {
  const query = typeof body['query'] === 'string' ? body['query'] : '';
  try {
    const document = parse(query);
    const errors = validate(schema, document);
    if (errors.length > 0) return { status: 200, body: { errors: errors.map(shown) } };
    const variableValues = (body['variables'] ?? {}) as JsonObject;
    const result = await execute({ schema, document, rootValue: createRoot(cloud), variableValues });
    const failed = result.errors && { errors: result.errors.map(shown) };
    return { status: 200, body: { data: result.data, ...failed } };
  } catch (error) {
    if (error instanceof GraphQLError) return { status: 200, body: { errors: [shown(error)] } };
    throw error;
  }
}

export function rateLimitedAnswer(): Answer {
  return { status: 200, body: { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }] } };
}

function shown({ message, path, locations, extensions }: GraphQLError): object {
  const { type, ...others } = extensions;
  return {
    ...(type !== undefined && { type }),
    ...(path && { path }),
    ...(Object.keys(others).length > 0 && { extensions: others }),
    ...(locations && { locations }),
    message,
  };
}
