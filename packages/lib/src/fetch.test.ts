import { expect, test } from 'vitest';
import { causeOf, readAnswer } from './fetch.ts';

test('an answer is read as a whole, or not at all if it exceeds the limit', async () => {
  const answer = () => new Response('äöü');
  await expect(readAnswer(answer(), 6)).resolves.toEqual(Buffer.from('äöü'));
  await expect(readAnswer(answer(), 5)).resolves.toBeUndefined();
  await expect(readAnswer(new Response(null), 0)).resolves.toEqual(Buffer.alloc(0));
});

test('the cause of an error, or the error itself if it has none', () => {
  const cause = new Error('refused');
  expect(causeOf(new TypeError('fetch failed', { cause }))).toBe(cause);
  expect(causeOf(cause)).toBe(cause);
  expect(causeOf('text')).toBe('text');
});
