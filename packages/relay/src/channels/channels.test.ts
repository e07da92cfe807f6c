// The cache of channels while the engine is slow or down; the test answers the reads.
import { expect, test } from 'vitest';
import { EngineUnavailable, namesFor } from '../engine/engine.ts';

import type { StoredMessage } from '../engine/store.ts';
import { createChannelRegistry } from './channels.ts';

type Answer = StoredMessage | undefined;

/** Every read waits until the test answers it. */
function setUp() {
  const asked: PromiseWithResolvers<Answer>[] = [];
  const clock = { at: 0 };
  const last = (): Promise<Answer> => {
    const answer = Promise.withResolvers<Answer>();
    asked.push(answer);
    return answer.promise;
  };
  const unused = (): never => {
    throw new Error('not for this test');
  };
  const store = { last, leaderLast: async () => undefined, info: unused };
  const publisher = { publish: unused };
  const registry = createChannelRegistry({ publisher, store, names: namesFor('test') }, () => clock.at);
  return { registry, asked, clock };
}

const stored: StoredMessage = {
  seq: 1,
  subject: 'test.channel.one',
  data: Buffer.from('{"readKeyHash":null,"createdAt":5}'),
  check: 'c',
  at: 0,
};
const channel = { id: 'one', readKeyHash: null, createdAt: 5 };

async function known() {
  const world = setUp();
  const found = world.registry.findChannel('one');
  world.asked[0]?.resolve(stored);
  expect(await found).toEqual(channel);
  return world;
}

test('a lookup does not take longer than the sender waits', async () => {
  const { registry } = setUp();
  await expect(registry.findChannel('one', 60)).rejects.toMatchObject({ code: 'engine-unavailable' });
});

test('while a channel is looked up again the cached one is used, without waiting', async () => {
  const { registry, asked, clock } = await known();
  clock.at = 61_000;
  expect(await registry.findChannel('one', 60)).toEqual(channel);
  expect(await registry.findChannel('one', 60)).toEqual(channel);
  expect(asked).toHaveLength(2);
  asked[1]?.reject(new EngineUnavailable('away'));
  expect(await registry.findChannel('one')).toEqual(channel);
});

test('a deleted channel is gone after the lookup', async () => {
  const { registry, asked, clock } = await known();
  clock.at = 61_000;
  expect(await registry.findChannel('one')).toEqual(channel);
  asked[1]?.resolve(undefined);
  await new Promise(setImmediate);
  const again = registry.findChannel('one');
  asked[2]?.resolve(undefined);
  expect(await again).toBeUndefined();
});

test('after ten minutes without use the lookup is awaited; without an answer the cached one is used', async () => {
  const { registry, asked, clock } = await known();
  clock.at = 601_000;
  const found = registry.findChannel('one');
  asked[1]?.resolve(undefined);
  expect(await found).toBeUndefined();

  const other = await known();
  other.clock.at = 601_000;
  const kept = other.registry.findChannel('one');
  other.asked[1]?.reject(new EngineUnavailable('away'));
  expect(await kept).toEqual(channel);
});
