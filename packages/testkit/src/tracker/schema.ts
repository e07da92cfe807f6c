// The schema that the fake tracker executes: the parts that we use, and what the vendor's own client asks for.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, type GraphQLSchema } from 'graphql';

const files = ['schema.graphql', 'schema-for-sdk.graphql'];

export const trackerSchema: GraphQLSchema = buildSchema(
  files.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8')).join('\n'),
);
