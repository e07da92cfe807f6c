import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, WAIT_MS } from '@svc/testkit';
import { expect, test } from 'vitest';
import { loadConfig } from '../../features/configure.ts';
import { createFileLocks } from '../disk/lock.ts';
import { readMachine } from './environment.ts';
import { createConfigStore } from './store.ts';

async function storeWith(global: string) {
  const home = temporaryFolder();
  const file = join(home, '.config/svc/config.json');
  mkdirSync(join(home, '.config/svc'), { recursive: true });
  writeFileSync(file, global);
  const machine = readMachine({}, home);
  const { files } = await loadConfig(machine, {}, home);
  const locks = createFileLocks({ folder: machine.locksDir, timeoutMs: WAIT_MS });
  const store = createConfigStore({ locks, files });
  return { store, file, text: () => readFileSync(file, 'utf8') };
}

test('several changes are one write: values set, values removed, the rest as it was', async () => {
  const { store, file, text } = await storeWith('{\n  "a": { "b": 1,  "c": 2 }\n}\n');
  const changes = [
    { path: ['a', 'b'], value: undefined },
    { path: ['a', 'nothing'], value: undefined },
    { path: ['a', 'c'], value: null },
    { path: ['d'], value: false },
  ];
  expect(await store.setMany('global', changes)).toBe(file);
  expect(text()).toBe('{\n  "a": { "c": null },\n  "d": false\n}\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('if one of them fails, none is made', async () => {
  const { store, text } = await storeWith('{"a": 1}');
  const changes = [
    { path: ['b'], value: 1 },
    { path: ['a', 'b'], value: 1 },
  ];
  await expect(store.setMany('global', changes)).rejects.toThrow('a is not an object');
  expect(text()).toBe('{"a": 1}');
});

test('a list is extended from its current value, and the same value again writes nothing', async () => {
  const { store, file, text } = await storeWith('{"a": ["x"]}');
  const add = (item: string) =>
    store.update('global', ['a'], (current) => {
      const list = current as string[];
      return list.includes(item) ? current : [...list, item];
    });
  const items = Array.from({ length: 12 }, (_, index) => `item ${index}`);
  await Promise.all(items.map(add));
  expect(JSON.parse(text()).a.toSorted()).toEqual(['x', ...items].toSorted());
  const { ino } = statSync(file);
  expect(await add('x')).toEqual({ file, changed: false });
  expect(statSync(file).ino).toBe(ino);
});
