import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createByteBudget, readBody } from './read-body.ts';

const LIMIT = 150;

function createRequest(...parts: string[]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  for (const part of parts) request.push(part);
  return request;
}

test('a complete body keeps its part of the budget until the caller returns it', async () => {
  const budget = createByteBudget(1000);
  const request = createRequest('first ', 'second');
  request.push(null);
  expect(await readBody(request, LIMIT, budget)).toEqual(Buffer.from('first second'));
  expect(budget.used()).toBe('first second'.length);
});

test.each([
  ['too-large', 1000, 100],
  ['busy', 150, 60],
] as const)(
  'the budget of a body that is %s is returned once, even if the connection closes later',
  async (why, size, part) => {
    const budget = createByteBudget(size);
    budget.take(size === 150 ? 50 : 0);
    const before = budget.used();
    const request = createRequest('x'.repeat(part), 'y'.repeat(part));
    expect(await readBody(request, LIMIT, budget)).toBe(why);
    request.destroy(new Error('aborted'));
    await new Promise((resolve) => request.once('close', resolve));
    expect(budget.used()).toBe(before);
  },
);

test('and also if the connection closes in the middle', async () => {
  const budget = createByteBudget(1000);
  const request = createRequest('half');
  const reading = readBody(request, LIMIT, budget);
  setImmediate(() => request.destroy(new Error('aborted')));
  expect(await reading).toBe('cut-off');
  expect(budget.used()).toBe(0);
});
