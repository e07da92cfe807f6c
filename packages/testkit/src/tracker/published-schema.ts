// The vendor's published schema. It is for checking, not for committing: it lies beside the repository
// on our machines and in CI, and nowhere else.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { buildSchema, type GraphQLSchema } from 'graphql';

const repository = join(import.meta.dirname, '..', '..', '..', '..');
export const publishedSchemaFile = join(repository, '..', 'shared', 'tracker-schema.graphql.gz');

let schema: GraphQLSchema | undefined;

/** Undefined where the file is not there. */
export function publishedSchema(): GraphQLSchema | undefined {
  if (schema === undefined && existsSync(publishedSchemaFile)) {
    schema = buildSchema(gunzipSync(readFileSync(publishedSchemaFile)).toString('utf8'), {
      assumeValidSDL: true,
    });
  }
  return schema;
}
