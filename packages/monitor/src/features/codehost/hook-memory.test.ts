import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { openHookMemory, secretFingerprint } from './io/hooks.ts';

test('remembers across a restart, whatever the spelling, in a file that only its owner can read', async () => {
  const path = join(temporaryFolder(), 'data', 'codehost-hooks.json');
  const memory = await openHookMemory(path);
  expect(memory.fingerprintOf('acme/web', 1)).toBeUndefined();
  await Promise.all([memory.remember('Acme/Web', 1, 'f1'), memory.remember('acme/api', 2, 'f2')]);
  const again = await openHookMemory(path);
  expect(again.fingerprintOf('acme/web', 1)).toBe('f1');
  expect(again.fingerprintOf('acme/api', 2)).toBe('f2');
  expect(again.fingerprintOf('acme/web', 2)).toBeUndefined();
  await again.remember('acme/web', 3, 'f3');
  expect(again.repos()).toEqual(['acme/web', 'acme/api']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test.each(['', 'not json', '[]', 'null', '{"acme/web#1": 5}'])(
  'a file with %j counts as empty',
  async (text) => {
    const path = join(temporaryFolder(), 'hooks.json');
    writeFileSync(path, text);
    expect((await openHookMemory(path)).fingerprintOf('acme/web', 1)).toBeUndefined();
  },
);

test('a fingerprint distinguishes secrets and does not contain them', () => {
  const secret = 'ab'.repeat(32);
  expect(secretFingerprint(secret)).toMatch(/^[0-9a-f]{16}$/);
  expect(secretFingerprint(secret)).not.toBe(secretFingerprint(`${secret}c`));
  expect(secret).not.toContain(secretFingerprint(secret));
});
