import { expect, test } from 'vitest';
import { readDelivery } from './delivery-service.ts';

const frame = (given: object): string => JSON.stringify(given);

test.each([
  ['re-serialised JSON', { body: { a: 1 } }, '{"a":1}', false],
  ['bytes', { bodyB: Buffer.from('{"a": 1.0}\n').toString('base64') }, '{"a": 1.0}\n', true],
  ['no bytes at all', { bodyB: '' }, '', true],
  ['bytes without padding', { bodyB: 'eyJhIjoxfQ' }, '{"a":1}', true],
  ['text', { rawdata: '{"a":"é"}' }, '{"a":"é"}', true],
])('%s', (_name, given, body, exact) => {
  const read = readDelivery(frame(given));
  expect(read.ok && { body: read.delivery.body.toString(), exact: read.exact }).toEqual({ body, exact });
});

test.each([
  ['not JSON', '{', 'malformed'],
  ['not base64', frame({ bodyB: 'a*b(' }), 'malformed'],
  ['not base64, but long', frame({ bodyB: 'é'.repeat(400) }), 'malformed'],
  ['too large', frame({ bodyB: Buffer.alloc(25 * 1024 * 1024 + 1).toString('base64') }), 'too-large'],
])('%s is not a delivery', (_name, data, why) => {
  expect(readDelivery(data)).toMatchObject({ ok: false, why });
});

test('the largest delivery that a receiver takes fits', () => {
  const read = readDelivery(frame({ bodyB: Buffer.alloc(25 * 1024 * 1024).toString('base64') }));
  expect(read.ok && read.delivery.body.length).toBe(25 * 1024 * 1024);
});
