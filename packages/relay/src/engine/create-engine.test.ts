import { expect, test } from 'vitest';
import { anotherEngine, engineForTest, listen, publishText } from './testing/engine-for-test.ts';

test('publishes, and a follower receives it live with its stored position', async () => {
  const { engine } = await engineForTest();
  const { received } = listen(engine, 'one');
  await expect.poll(() => received.ready).not.toBeNull();
  const { position, duplicate } = await publishText(engine, 'one', '{"n":1}', 'a');
  expect(duplicate).toBe(false);
  await expect.poll(() => received.bodies).toEqual(['{"n":1}']);
  expect(received.positions).toEqual([position]);
  expect(received.events[0]).toBe('ready');
});

test('a repeated delivery id is stored once', async () => {
  const { engine } = await engineForTest();
  const first = await publishText(engine, 'one', 'x', 'same');
  expect(await publishText(engine, 'one', 'x', 'same')).toEqual({ ...first, duplicate: true });
  expect((await publishText(engine, 'other', 'x', 'same')).duplicate).toBe(false);
  const { received } = listen(engine, 'one', 'oldest');
  await expect.poll(() => received.bodies).toEqual(['x']);
  expect((await publishText(engine, 'one', 'another body', 'same')).duplicate).toBe(false);
  await expect.poll(() => received.bodies).toEqual(['x', 'another body']);
});

test('a channel made at one process is found at another at once', async () => {
  const { engine, nats } = await engineForTest();
  const other = await anotherEngine(nats.servers);
  expect(await other.findChannel('made-late')).toBeUndefined();
  const channel = { id: 'made-late', readKeyHash: 'hash', createdAt: 5 };
  await engine.createChannel(channel);
  expect(await other.findChannel('made-late')).toEqual(channel);
  await engine.createChannel(channel);
  await expect(other.createChannel({ ...channel, readKeyHash: null })).rejects.toMatchObject({
    code: 'channel-taken',
  });
});

test('named cursors are stored per channel', async () => {
  const { engine, nats } = await engineForTest();
  await engine.saveCursor('one', 'laptop ü', { epoch: 'e', seq: 3 });
  await engine.saveCursor('one', 'laptop ü', { epoch: 'e', seq: 4 });
  await engine.saveCursor('one', 'desk', { epoch: 'e', seq: 1 });
  const other = await anotherEngine(nats.servers);
  const saved = (await other.cursors('one')).map(
    ({ subscriber, position }) => `${subscriber} ${position.seq}`,
  );
  expect(saved.toSorted()).toEqual(['desk 1', 'laptop ü 4']);
  expect(await other.cursors('two')).toEqual([]);
  expect(await other.cursor('one', 'laptop ü')).toMatchObject({ position: { epoch: 'e', seq: 4 } });
  expect(await other.cursor('one', 'nobody')).toBeUndefined();
});
