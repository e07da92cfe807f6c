// Executes one GraphQL operation against the schema and the rows. Anything that is not in the schema is rejected, as by
// the real server, so a wrong query of ours fails in a test.
import {
  defaultFieldResolver,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLFieldResolver,
  getNamedType,
  isEnumType,
  isNonNullType,
  parse,
  validate,
} from 'graphql';
import { trackerSchema } from './schema.ts';

export type Operation = {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string;
};

export type Executed = { status: number; result: ExecutionResult };

/** The name of each root field of the operation, for the list of calls. */
export function rootFieldsOf(query: string): string[] {
  return parse(query).definitions.flatMap((definition) =>
    definition.kind === 'OperationDefinition'
      ? definition.selectionSet.selections.flatMap((part) => (part.kind === 'Field' ? [part.name.value] : []))
      : [],
  );
}

export async function executeOperation(operation: Operation, rootValue: object): Promise<Executed> {
  const document = parse(operation.query);
  const errors = validate(trackerSchema, document);
  if (errors.length > 0) return { status: 400, result: { errors: errors.map(withCode) } };
  const result = await execute({
    schema: trackerSchema,
    document,
    rootValue,
    fieldResolver: resolveOrFill,
    variableValues: operation.variables ?? {},
    ...(operation.operationName !== undefined && { operationName: operation.operationName }),
  });
  const failed = result.errors?.[0];
  const status = failed && !result.data ? Number(failed.extensions['statusCode'] ?? 400) : 200;
  return { status, result };
}

function withCode(error: GraphQLError): GraphQLError {
  return new GraphQLError(error.message, {
    ...(error.nodes && { nodes: error.nodes }),
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', type: 'graphql error', userError: true },
  });
}

const blanks: Record<string, unknown> = {
  Boolean: false,
  Float: 0,
  Int: 0,
  ID: '',
  String: '',
  DateTime: '2026-01-01T00:00:00.000Z',
  JSONObject: {},
};

/** Fields that rows do not have (most of what the vendor's client requests) get an empty value of their type. */
const resolveOrFill: GraphQLFieldResolver<unknown, unknown> = (source, args, context, info) => {
  const value = defaultFieldResolver(source, args, context, info);
  if (value !== undefined || !isNonNullType(info.returnType)) return value;
  const type = getNamedType(info.returnType);
  return isEnumType(type) ? type.getValues()[0]?.name : blanks[type.name];
};
