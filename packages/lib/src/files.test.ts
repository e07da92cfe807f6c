import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { ifPresent, ifPresentSync } from './files.ts';

test('a file that does not exist, or is below a file, gives undefined; every other error is thrown', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'a');
  writeFileSync(file, 'text');
  await expect(ifPresent(readFile(file, 'utf8'))).resolves.toBe('text');
  for (const missing of [join(folder, 'b'), join(file, 'c')]) {
    await expect(ifPresent(readFile(missing, 'utf8'))).resolves.toBeUndefined();
    expect(ifPresentSync(() => readFileSync(missing, 'utf8'))).toBeUndefined();
  }
  await expect(ifPresent(readFile(folder, 'utf8'))).rejects.toThrow('EISDIR');
  expect(() => ifPresentSync(() => readFileSync(folder, 'utf8'))).toThrow('EISDIR');
});
