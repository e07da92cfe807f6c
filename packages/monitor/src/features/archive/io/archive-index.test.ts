import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { withArchiveIndex } from './archive-index.ts';

test('an index that somebody else has locked is a failure with its name, and keeps the daemon waiting only shortly', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'svc.db');
  const open = () => withArchiveIndex(file, folder, async (index) => index.runs());
  expect(await open()).toEqual([]);
  const other = new DatabaseSync(file);
  other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  const began = performance.now();
  await expect(open()).rejects.toMatchObject({
    code: 'file-unusable',
    message: expect.stringContaining(file),
    remedy: expect.stringContaining('svc monitor restart'),
  });
  expect(performance.now() - began).toBeLessThan(2_000);
  other.close();
  expect(await open()).toEqual([]);
});
