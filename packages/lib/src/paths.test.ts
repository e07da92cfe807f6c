import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { beforeEach, expect, test } from 'vitest';
import { ifPresent } from './files.ts';
import {
  copyFile,
  isFolder,
  isThere,
  lookAt,
  namesIn,
  openFile,
  openNow,
  readFile,
  readText,
  readTextNow,
  writeNewFile,
} from './paths.ts';

let folder: string;
const at = (name: string): string => join(folder, name);

beforeEach(() => {
  folder = temporaryFolder();
  writeFileSync(at('file'), 'text');
  mkdirSync(at('folder'));
  symlinkSync('file', at('link'));
  symlinkSync('loop', at('loop'));
  symlinkSync('nowhere', at('dangling'));
  execFileSync('mkfifo', [at('pipe')]);
  writeFileSync(at('large'), '');
  truncateSync(at('large'), 5 * 2 ** 30);
});

test.each([
  ['file', { state: 'present', kind: 'file', size: 4 }],
  ['link', { state: 'present', kind: 'file', size: 4 }],
  ['folder', { state: 'present', kind: 'folder' }],
  ['pipe', { state: 'present', kind: 'pipe' }],
  ['absent', { state: 'absent' }],
  ['file/below', { state: 'absent' }],
  ['dangling', { state: 'absent' }],
  ['loop', { state: 'unreadable', reason: 'is a link that leads in a circle (ELOOP).' }],
  ['n'.repeat(300), { state: 'unreadable', reason: 'cannot be read (ENAMETOOLONG).' }],
  ['nul\0', { state: 'unreadable' }],
  ['../../../../../../../../../../../dev/zero', { state: 'present', kind: 'device' }],
])('a look at %s has one of three results', async (name, expected) => {
  await expect(lookAt(`${folder}/${name}`)).resolves.toMatchObject(expected);
});

test('a link itself can be examined, and counts as being there', async () => {
  await expect(lookAt(at('loop'), 'keep')).resolves.toMatchObject({ state: 'present', kind: 'link' });
  await expect(isThere(at('dangling'))).resolves.toBe(true);
  await expect(isThere(at('absent'))).resolves.toBe(false);
  await expect(isFolder(at('folder'))).resolves.toBe(true);
  await expect(isFolder(at('file'))).resolves.toBe(false);
});

test('the identity changes with the content', async () => {
  const before = await lookAt(at('file'));
  writeFileSync(at('other'), 'text');
  const other = await lookAt(at('other'));
  writeFileSync(at('other'), 'longer text');
  await expect(lookAt(at('file'))).resolves.toEqual(before);
  await expect(lookAt(at('other'))).resolves.not.toEqual(other);
});

const refused = [
  ['folder', 'is a folder, not a regular file.'],
  ['pipe', 'is a pipe, not a regular file.'],
  ['../../../../../../../../../../../dev/zero', 'is a device, not a regular file.'],
  ['large', 'at most 16777216 are read.'],
] as const;

test.each(refused)('%s is not read, and nothing waits for it', async (name, reason) => {
  const path = `${folder}/${name}`;
  await expect(readText(path)).rejects.toThrow(reason);
  expect(() => readTextNow(path)).toThrow(reason);
  if (name === 'large') return;
  await expect(openFile(path)).rejects.toThrow(reason);
  expect(() => openNow(path)).toThrow(reason);
});

test('a socket is not read', async () => {
  const server = createServer().listen(at('socket'));
  await expect(readText(at('socket'))).rejects.toThrow('is not a regular file.');
  server.close();
});

test('a file is read whole, through a link only if links are followed, and never more than the limit', async () => {
  await expect(readText(at('link'))).resolves.toBe('text');
  await expect(readText(at('link'), { links: 'keep' })).rejects.toThrow('is a link, which is not followed.');
  await expect(readText(at('file'), { most: 4 })).resolves.toBe('text');
  await expect(readText(at('file'), { most: 3 })).rejects.toThrow('has 4 bytes; at most 3 are read.');
  expect(readTextNow(at('file'))).toBe('text');
  await expect(ifPresent(readText(at('absent')))).resolves.toBeUndefined();
  writeFileSync(at('two pages'), 'x'.repeat(10_000));
  expect((await readFile(at('two pages'))).bytes).toHaveLength(10_000);
});

test.runIf(process.platform === 'linux')(
  'a file of the kernel without a size is read to its end',
  async () => {
    await expect(readText('/proc/self/status')).resolves.toContain('VmPeak');
    await expect(readText('/proc/self/status', { most: 10 })).rejects.toThrow('at most 10 are read.');
  },
);

test.runIf(process.geteuid?.() !== 0)('what may not be examined has a reason', async () => {
  mkdirSync(at('closed'));
  writeFileSync(at('closed/file'), 'text');
  chmodSync(at('closed'), 0);
  await expect(lookAt(at('closed/file'))).resolves.toEqual({
    state: 'unreadable',
    reason: 'cannot be read (EACCES).',
  });
  chmodSync(at('closed'), 0o700);
});

test('the names in a folder are sorted; a missing folder has none', async () => {
  const some = at('some');
  mkdirSync(some);
  for (const name of ['b', 'a']) writeFileSync(join(some, name), '');
  await expect(namesIn(some)).resolves.toEqual(['a', 'b']);
  await expect(namesIn(at('absent'))).resolves.toEqual([]);
});

test('a regular file of any size is copied, with its permissions', async () => {
  const content = Buffer.alloc(3 * 1024 * 1024 + 7, 'abc');
  writeFileSync(at('program'), content);
  chmodSync(at('program'), 0o755);
  await copyFile(at('program'), at('copy'));
  expect(readFileSync(at('copy')).equals(content)).toBe(true);
  expect(statSync(at('copy')).mode & 0o777).toBe(0o755 & ~process.umask());
});

test.each([
  ['pipe', 'is a pipe, not a regular file.'],
  ['folder', 'is a folder, not a regular file.'],
  ['loop', 'ELOOP'],
])('a %s is not copied, and nothing waits for it', async (name, reason) => {
  await expect(copyFile(at(name), at('copy'))).rejects.toThrow(reason);
  await expect(isThere(at('copy'))).resolves.toBe(false);
});

test.each(['file', 'pipe', 'dangling', 'folder'])('what is there is not written over: %s', async (name) => {
  await expect(writeNewFile(at(name), 'other')).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(copyFile(at('file'), at(name))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(readText(at('file'))).resolves.toBe('text');
});
