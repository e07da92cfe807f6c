// Checks a GraphQL document as the tracker would: against our schema and, where it is there, the published one.
import { type GraphQLSchema, parse, validate } from 'graphql';
import { publishedSchema } from './published-schema.ts';
import { trackerSchema } from './schema.ts';

export type DocumentProblems = {
  inOurSchema: string[];
  /** Undefined where the published schema is not there. */
  inPublishedSchema: string[] | undefined;
};

export function documentProblems(document: string): DocumentProblems {
  const published = publishedSchema();
  return {
    inOurSchema: problemsIn(trackerSchema, document),
    inPublishedSchema: published && problemsIn(published, document),
  };
}

function problemsIn(schema: GraphQLSchema, document: string): string[] {
  return validate(schema, parse(document)).map((error) => error.message);
}
