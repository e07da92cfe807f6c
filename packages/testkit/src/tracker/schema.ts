// The schema that the fake tracker executes: the parts that we use, and those that the vendor's own client requests.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isSpecifiedScalarType,
  parse,
  validate,
} from 'graphql';

const files = ['schema.graphql', 'schema-for-sdk.graphql'];

export const trackerSchema: GraphQLSchema = buildSchema(
  files.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8')).join('\n'),
);

// The vendors' published schemas. They are for checks and not committed: they are next to the repository on our machines
// and in CI only.

const repository = join(import.meta.dirname, '..', '..', '..', '..');
const published = new Map<string, GraphQLSchema>();

/** Undefined if the file does not exist. */
export function publishedSchema(vendor: 'tracker' | 'codehost'): GraphQLSchema | undefined {
  const file = join(repository, '..', 'shared', `${vendor}-schema.graphql.gz`);
  if (!published.has(vendor) && existsSync(file)) {
    const text = gunzipSync(readFileSync(file)).toString('utf8');
    published.set(vendor, buildSchema(text, { assumeValidSDL: true }));
  }
  return published.get(vendor);
}

// Checks a GraphQL document as the tracker would: against our schema and, if available, the published one.

export type DocumentProblems = {
  inOurSchema: string[];
  /** Undefined without the published schema. */
  inPublishedSchema: string[] | undefined;
};

export function documentProblems(document: string): DocumentProblems {
  const theirs = publishedSchema('tracker');
  return {
    inOurSchema: problemsIn(trackerSchema, document),
    inPublishedSchema: theirs && problemsIn(theirs, document),
  };
}

function problemsIn(schema: GraphQLSchema, document: string): string[] {
  return validate(schema, parse(document)).map((error) => error.message);
}

// Compares two schemas: everything in ours must be in theirs, with the same type, and everything that theirs requires
// must be in ours. Other parts of theirs do not matter.

type Given = GraphQLArgument | GraphQLInputField;

/** One sentence for each difference; empty if ours is a part of theirs. */
export function schemaDifferences(ours: GraphQLSchema, theirs: GraphQLSchema): string[] {
  return Object.values(ours.getTypeMap())
    .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
    .flatMap((type) => typeDifferences(type, theirs.getType(type.name)));
}

function typeDifferences(ours: GraphQLNamedType, theirs: GraphQLNamedType | undefined): string[] {
  const name = ours.name;
  if (theirs === undefined) return [`${name} does not exist`];
  if (ours.constructor !== theirs.constructor) return [`${name} is another kind of type`];
  if (isEnumType(ours) && isEnumType(theirs)) {
    return ours
      .getValues()
      .filter((value) => !theirs.getValue(value.name))
      .map((value) => `${name}.${value.name} does not exist`);
  }
  if (isInputObjectType(ours) && isInputObjectType(theirs)) {
    return givenDifferences(
      name,
      Object.values(ours.getFields()),
      Object.values(theirs.getFields()),
      (field) => isRequiredInputField(field as GraphQLInputField),
    );
  }
  if ((isObjectType(ours) && isObjectType(theirs)) || (isInterfaceType(ours) && isInterfaceType(theirs))) {
    const interfaces = ours
      .getInterfaces()
      .filter((one) => !theirs.getInterfaces().some((other) => other.name === one.name))
      .map((one) => `${name} does not implement ${one.name}`);
    const fields = Object.values(ours.getFields()).flatMap((field) => {
      const place = `${name}.${field.name}`;
      const other = theirs.getFields()[field.name];
      if (!other) return [`${place} does not exist`];
      return [
        ...sameType(place, field.type, other.type),
        ...givenDifferences(place, field.args, other.args, (arg) =>
          isRequiredArgument(arg as GraphQLArgument),
        ),
      ];
    });
    return [...interfaces, ...fields];
  }
  return [];
}

/** Arguments of a field, or fields of an input. */
function givenDifferences(
  place: string,
  ours: readonly Given[],
  theirs: readonly Given[],
  isRequired: (given: Given) => boolean,
): string[] {
  const wrong = ours.flatMap((given) => {
    const other = theirs.find(({ name }) => name === given.name);
    if (!other) return [`${place}(${given.name}) does not exist`];
    return sameType(`${place}(${given.name})`, given.type, other.type);
  });
  const missing = theirs
    .filter((given) => isRequired(given) && !ours.some(({ name }) => name === given.name))
    .map((given) => `${place}(${given.name}) is required`);
  return [...wrong, ...missing];
}

function sameType(place: string, ours: GraphQLType, theirs: GraphQLType): string[] {
  const [wanted, found] = [ours.toString(), theirs.toString()];
  return wanted === found ? [] : [`${place} is ${found}, not ${wanted}`];
}
