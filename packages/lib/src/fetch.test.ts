import { expect, test } from 'vitest';
import { causeOf, readAnswer } from './fetch.ts';

test('an answer is read whole, and not at all when it is larger than the bound', async () => {
  const answer = () => new Response('äöü');
  await expect(readAnswer(answer(), 6)).resolves.toEqual(Buffer.from('äöü'));
  await expect(readAnswer(answer(), 5)).resolves.toBeUndefined();
  await expect(readAnswer(new Response(null), 0)).resolves.toEqual(Buffer.alloc(0));
});

test('the cause of an error is the cause where there is one, and the error itself otherwise', () => {
  const cause = new Error('refused');
  expect(causeOf(new TypeError('fetch failed', { cause }))).toBe(cause);
  expect(causeOf(cause)).toBe(cause);
  expect(causeOf('text')).toBe('text');
});
