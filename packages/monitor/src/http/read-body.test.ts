import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { readBody } from './read-body.ts';

const LIMIT = 150;

function createRequest(...parts: string[]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  for (const part of parts) request.push(part);
  return request;
}

function createRoom(size: number) {
  let free = size;
  const take = (bytes: number): boolean => {
    if (bytes > free) return false;
    free -= bytes;
    return true;
  };
  return { take, give: (bytes: number) => void (free += bytes), free: () => free };
}

test('a whole body keeps its room until the caller gives it back', async () => {
  const room = createRoom(1000);
  const request = createRequest('first ', 'second');
  request.push(null);
  expect(await readBody(request, LIMIT, room)).toEqual({ ok: true, bytes: Buffer.from('first second') });
  expect(room.free()).toBe(1000 - 'first second'.length);
});

test.each([
  ['too-large', 1000, 100],
  ['no-room', 150, 60],
] as const)(
  'room for a body that is %s is given back once, also when the connection goes later',
  async (why, size, part) => {
    const room = createRoom(size);
    room.take(size === 150 ? 50 : 0);
    const before = room.free();
    const request = createRequest('x'.repeat(part), 'y'.repeat(part));
    expect(await readBody(request, LIMIT, room)).toEqual({ ok: false, why });
    request.destroy(new Error('aborted'));
    await new Promise((resolve) => request.once('close', resolve));
    expect(room.free()).toBe(before);
  },
);

test('so it is when the connection goes in the middle', async () => {
  const room = createRoom(1000);
  const request = createRequest('half');
  const reading = readBody(request, LIMIT, room);
  setImmediate(() => request.destroy(new Error('aborted')));
  expect(await reading).toEqual({ ok: false, why: 'cut-off' });
  expect(room.free()).toBe(1000);
});
