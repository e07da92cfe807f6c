import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir, realpath, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { openFile } from '@svc/lib/paths';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { asFailure } from './failure.ts';

test.each<[string, (path: string) => Promise<unknown>, string]>([
  [
    'a link to itself',
    (path) => {
      symlinkSync(path, path);
      return realpath(path);
    },
    'is a link that leads in a circle (ELOOP).',
  ],
  [
    'a file for a folder',
    (path) => {
      writeFileSync(path, '');
      return readdir(path);
    },
    'cannot be used (ENOTDIR: not a directory).',
  ],
  [
    'a folder that cannot be replaced',
    (path) => {
      mkdirSync(join(path, 'full'), { recursive: true });
      return rename(path, join(path, 'full'));
    },
    'cannot be used (EINVAL: invalid argument).',
  ],
  [
    'a folder for a file',
    (path) => {
      mkdirSync(path);
      return openFile(path);
    },
    'is a folder, not a regular file.',
  ],
])('an error of the system about %s names the path first, and is no bug', async (_, work, reason) => {
  const path = join(temporaryFolder(), 'x');
  const error: unknown = await work(path).catch((thrown: unknown) => thrown);
  expect(asFailure(error)).toMatchObject({
    code: 'file-unusable',
    message: `${path} ${reason}`,
    remedy: expect.stringContaining('read and write'),
  });
});
