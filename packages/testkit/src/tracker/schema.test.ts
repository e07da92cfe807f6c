import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { codehostSchema } from '../codehost/graphql.ts';
import { deliveredResourceTypes } from './operations.ts';
import { publishedSchema, schemaDifferences, trackerSchema } from './schema.ts';

const published = publishedSchema('tracker');
const publishedByCodehost = publishedSchema('codehost');
if (!published || !publishedByCodehost)
  console.warn('A published schema is missing in ../shared: ours is not compared with it.');

test.skipIf(!published)('our whole schema is in the published one, with the same types', () => {
  expect(schemaDifferences(trackerSchema, published ?? trackerSchema)).toEqual([]);
});

test.skipIf(!publishedByCodehost)('the code host’s whole schema is in the published one too', () => {
  expect(schemaDifferences(codehostSchema, publishedByCodehost ?? codehostSchema)).toEqual([]);
});

test.skipIf(!published)('the resource types that the fake delivers are published', () => {
  const type = published?.getType('WebhookResourceType');
  const names = type && 'getValues' in type ? type.getValues().map(({ name }) => name) : [];
  expect(names).toEqual(expect.arrayContaining(deliveredResourceTypes));
  expect(names).not.toContain('IssueRelation');
});

test('every kind of schema difference is found', () => {
  const theirs = buildSchema(`
    interface Node { id: ID! }
    enum Order { up }
    input Given { a: String! b: Int! c: Int }
    type Thing implements Node { id: ID! size(of: Int!, in: String): Int name: String! }
    type Plain { id: ID! }
    type Query { thing: Thing plain: Plain order(by: Order, given: Given): Order }
  `);
  const ours = buildSchema(`
    interface Node { id: ID! }
    enum Order { up down }
    input Given { a: String b: Int! d: Int }
    type Thing implements Node { id: ID! size(in: Int): Int name: String weight: Int }
    type Plain implements Node { id: ID! }
    type Extra { id: ID! }
    type Query { thing: Thing plain: Plain extra: Extra order(by: Order, given: Given): Order }
  `);
  expect(schemaDifferences(ours, theirs).toSorted()).toEqual(
    [
      'Order.down does not exist',
      'Given(a) is String!, not String',
      'Given(d) does not exist',
      'Thing.size(in) is String, not Int',
      'Thing.size(of) is required',
      'Thing.name is String!, not String',
      'Thing.weight does not exist',
      'Plain does not implement Node',
      'Extra does not exist',
      'Query.extra does not exist',
    ].toSorted(),
  );
  expect(schemaDifferences(theirs, theirs)).toEqual([]);
});
