import { expect, test } from 'vitest';
import { z } from 'zod';
import { duration, text } from './api-route.ts';
import { readFields, readQuery } from './read-fields.ts';

const schema = z.strictObject({
  name: text(10),
  note: z.string().optional(),
  count: z.int().min(1).max(200).default(60),
  order: z.enum(['up', 'down']).optional(),
  kind: z.enum(['a', 'b', 'c']).optional(),
  isNew: z.boolean().optional(),
  wait: duration('a duration from 1s to 60s', { least: 1, most: 60_000 }).prefault('10s'),
  tickets: z.array(text(5), 'is not a list of tickets').optional(),
  rule: z.strictObject({ when: z.strictObject({ event: z.string() }) }).optional(),
});

test('defaults are filled in, and durations are milliseconds', () => {
  expect(readFields(schema, { name: 'x' })).toEqual({
    ok: true,
    fields: { name: 'x', count: 60, wait: 10_000 },
  });
  expect(readFields(schema, { name: 'x', wait: '2s' })).toMatchObject({ fields: { wait: 2_000 } });
});

test('in a query, digits become a number where a number is expected, and no other text does', () => {
  expect(readQuery(schema, { name: '7', count: '5' })).toMatchObject({ fields: { name: '7', count: 5 } });
  for (const count of ['', ' 5', '5.0', '0x5', '-1', '1e2', ['5', '6']])
    expect(readQuery(schema, { name: 'x', count })).toEqual({
      ok: false,
      problem: 'count: expected a whole number from 1 to 200.',
    });
});

test.each<[string, unknown, string]>([
  ['nothing at all', undefined, 'name is required.'],
  ['null', null, 'name is required.'],
  ['a list', [], 'The body must be a JSON object.'],
  ['a text', 'x', 'The body must be a JSON object.'],
  [
    'a misspelt field',
    { nme: 'x' },
    `Unknown field "nme"; allowed: ${Object.keys(schema.shape).join(', ')}.`,
  ],
  ['an empty text', { name: '' }, 'name: expected a text of at most 10 characters.'],
  ['a text that is too long', { name: 'x'.repeat(11) }, 'name: expected a text of at most 10 characters.'],
  ['not a text', { name: 7 }, 'name: expected a text of at most 10 characters.'],
  ['not a text, without a limit', { name: 'x', note: {} }, 'note: expected a text.'],
  ['null for an optional field', { name: 'x', note: null }, 'note: expected a text.'],
  ['a number that is too large', { name: 'x', count: 201 }, 'count: expected a whole number from 1 to 200.'],
  ['a fraction', { name: 'x', count: 1.5 }, 'count: expected a whole number from 1 to 200.'],
  ['one of two', { name: 'x', order: 'left' }, 'order: expected up or down.'],
  ['one of many', { name: 'x', kind: 'd' }, 'kind: expected one of a, b, c.'],
  ['not a boolean', { name: 'x', isNew: 'yes' }, 'isNew: expected true or false.'],
  ['not a duration', { name: 'x', wait: 'long' }, 'wait: expected a duration from 1s to 60s.'],
  ['too long a duration', { name: 'x', wait: '2m' }, 'wait: expected a duration from 1s to 60s.'],
  ['a message in the schema', { name: 'x', tickets: 'A-1' }, 'tickets: is not a list of tickets.'],
  [
    'inside a list',
    { name: 'x', tickets: ['A-1', 5] },
    'tickets[1]: expected a text of at most 5 characters.',
  ],
  ['inside an object', { name: 'x', rule: { when: {} } }, 'rule.when.event is required.'],
  ['not an object', { name: 'x', rule: 5 }, 'rule: expected an object.'],
  [
    'an unknown field inside',
    { name: 'x', rule: { when: { event: 'a', x: 1 } } },
    'rule.when: Unknown field "x"; allowed: event.',
  ],
])('refused: %s', (_, given, problem) => {
  expect(readFields(schema, given)).toEqual({ ok: false, problem });
});
