import { expect, test } from 'vitest';
import { createRandom } from '../../packages/testkit/src/random.ts';
import { createSource, withHeaders } from './bad-request.ts';
import { type Draft, isAcceptable } from './model.ts';

const source = createSource(createRandom(1), 7400);

test('valid deliveries are acceptable', () => {
  expect(isAcceptable(source.good())).toBe(true);
  expect(isAcceptable(source.goodTracker())).toBe(true);
  expect(isAcceptable(source.signed('{}'))).toBe(true);
});

test.each<[string, Draft]>([
  ['no signature', withHeaders(source.good(), { 'X-Hub-Signature-256': undefined })],
  ['signed bytes changed', { ...source.good(), body: Buffer.from('{}') }],
  ['no object', source.signed('[]')],
  ['not UTF-8', source.signed(Buffer.from([0x7b, 0xff, 0x7d]))],
  ['no delivery id', withHeaders(source.good(), { 'X-Codehost-Delivery': undefined })],
  ['id with a space', withHeaders(source.good(), { 'X-Codehost-Delivery': 'a b' })],
  ['no type name', withHeaders(source.good(), { 'X-Codehost-Event': 'No Type' })],
  ['foreign host', withHeaders(source.good(), { Host: 'evil.example' })],
  ['foreign origin', withHeaders(source.good(), { Origin: 'https://evil.example' })],
  ['another method', { ...source.good(), method: 'PUT' }],
  ['another path', { ...source.good(), path: '/api/webhooks' }],
  ['signed for the other feed', { ...source.good(), path: '/api/webhook/tracker' }],
])('%s is not acceptable', (_name, draft) => {
  expect(isAcceptable(draft)).toBe(false);
});
