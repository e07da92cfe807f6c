import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { findSources, type SourceFile, withSource } from './source-files.ts';

function runFolder() {
  const home = temporaryFolder();
  const runsDir = join(home, 'runs');
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  };
  const find = () =>
    findSources({ runsDir, commsDir: join(home, 'none'), orchestrator: 'o', runs: new Set(['o']) });
  return { home, write, find };
}

const contentOf = (file: SourceFile | undefined) =>
  file && withSource(file, async ({ bytes, size }) => ({ size, content: await text(bytes()) }));

test('a folder that becomes a link after it was listed is not followed', async () => {
  const { home, write, find } = runFolder();
  write('runs/o/deep/file', 'mine');
  write('elsewhere/file', 'secret');
  const [file] = (await find()).files;
  expect(await contentOf(file)).toEqual({ size: 4, content: 'mine' });
  renameSync(join(home, 'runs/o/deep'), join(home, 'runs/o/before'));
  symlinkSync(join(home, 'elsewhere'), join(home, 'runs/o/deep'));
  expect(await contentOf(file)).toEqual({ unreadable: 'is behind a link' });
  rmSync(join(home, 'runs/o/deep'));
  expect(await contentOf(file)).toEqual({ unreadable: null });
});

test('a runs folder that is itself a link is accepted as configured', async () => {
  const { home, write, find } = runFolder();
  write('disk/o/file', 'mine');
  symlinkSync(join(home, 'disk'), join(home, 'runs'));
  const [file] = (await find()).files;
  expect(await contentOf(file)).toEqual({ size: 4, content: 'mine' });
});

test('a growing file is read only up to its original size', async () => {
  const { home, write, find } = runFolder();
  write('runs/o/stream', 'one');
  const [file] = (await find()).files;
  const read =
    file &&
    withSource(file, async ({ bytes }) => {
      writeFileSync(join(home, 'runs/o/stream'), 'two', { flag: 'a' });
      return text(bytes());
    });
  expect(await read).toBe('one');
});
