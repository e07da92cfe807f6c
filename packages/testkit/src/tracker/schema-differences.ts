// Holds one schema against another: everything in ours must be in theirs, with the same type, and
// whatever theirs requires must be in ours. What theirs has beyond that does not matter.
import {
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
} from 'graphql';

type Given = GraphQLArgument | GraphQLInputField;

/** One sentence for each difference; none when ours is a part of theirs. */
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
