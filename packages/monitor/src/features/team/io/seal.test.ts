import { expect, test } from 'vitest';
import { newKey, seal, unseal, unwrapKey, wrapKey } from './seal.ts';

const place = { channel: 'c', machine: 'm'.repeat(22), kind: 'attention' as const, hash: 'h'.repeat(22) };

test('a team key is wrapped for one channel, epoch and member', async () => {
  const [key, wrapping] = [newKey(), newKey()];
  const use = { channel: 'c', epoch: 2, member: 'one' };
  const wrapped = await wrapKey(key, wrapping, use);
  expect(await unwrapKey(wrapped, wrapping, use)).toBe(key);
  for (const other of [{ channel: 'd' }, { epoch: 3 }, { member: 'two' }])
    expect(await unwrapKey(wrapped, wrapping, { ...use, ...other })).toBeUndefined();
  expect(await unwrapKey(wrapped, newKey(), use)).toBeUndefined();
});

test('the size of a record shows only steps of 1 KiB', async () => {
  const key = { epoch: 1, key: newKey() };
  const sizes = new Set<number>();
  for (const length of [0, 1, 100, 900, 1_500, 1_900]) {
    const value = { key: 'a', value: 'é'.repeat(length / 2) };
    const body = await seal(place, key, 1, value);
    sizes.add(Buffer.from(body.box, 'base64url').length - 16);
    expect(await unseal(place, key.key, body)).toEqual(value);
  }
  expect([...sizes]).toEqual([1024, 2048]);
});

test('a value is opened only at its path, with its version and epoch', async () => {
  const key = { epoch: 3, key: newKey() };
  const value = { key: 'a', value: 'text' };
  const body = await seal(place, key, 7, value);
  expect(await unseal(place, key.key, body)).toEqual(value);
  for (const moved of [
    { channel: 'd' },
    { machine: 'n'.repeat(22) },
    { kind: 'run' as const },
    { hash: 'i'.repeat(22) },
  ])
    expect([moved, await unseal({ ...place, ...moved }, key.key, body)]).toEqual([moved, undefined]);
  for (const changed of [{ version: 8 }, { epoch: 4 }])
    expect([changed, await unseal(place, key.key, { ...body, ...changed })]).toEqual([changed, undefined]);
  expect(await unseal(place, newKey(), body)).toBeUndefined();
});
