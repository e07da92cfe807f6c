// `POST /api/graphql`: executes the operation against the schemas next to this file. Anything that is not in the schema
// is rejected, so a wrong query of ours fails in a test. Errors have the vendor's form: the type is next to the
// message, and the rest of the answer is still there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, execute, GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';
import type { JsonObject } from '../payloads/examples.ts';
import type { Answer } from './answer.ts';

const files = ['schema.graphql', 'schema-for-gh.graphql'];

export const codehostSchema: GraphQLSchema = buildSchema(
  files.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8')).join('\n'),
);

export async function answerGraphql(rootValue: object, body: JsonObject): Promise<Answer> {
  const query = typeof body['query'] === 'string' ? body['query'] : '';
  try {
    const document = parse(query);
    // The vendor accepts fields of other types under the same name, and `gh` sends them.
    const errors = validate(codehostSchema, document).filter(
      ({ message }) => !message.includes('return conflicting types'),
    );
    if (errors.length > 0) return { status: 200, body: { errors: errors.map(shown) } };
    const variableValues = (body['variables'] ?? {}) as JsonObject;
    const result = await execute({ schema: codehostSchema, document, rootValue, variableValues });
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
