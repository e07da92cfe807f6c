import { temporaryFolder } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { diskSpaceOf, watchFiles } from './disk-space.ts';

test('a disk with space but that takes no more files is a problem with a fix, until it does again', async () => {
  const folder = temporaryFolder();
  expect((await diskSpaceOf(folder)).freeBytes).toBeGreaterThan(0);
  let freeFiles: number | null = 5;
  const warnings: unknown[] = [];
  const files = watchFiles(
    folder,
    { warn: (warning: unknown) => void warnings.push(warning) },
    { defer: onTestFinished },
    async () => ({ freeBytes: 1e12, freeFiles }),
  );
  await files.look();
  expect(files.problem()?.what).toBe(`the disk of ${folder} has too many files: new ones cannot be created`);
  expect(files.problem()?.remedy).toContain('du -x --inodes');
  freeFiles = null;
  await files.look();
  expect(files.problem()).toBeNull();
  expect(warnings).toEqual([]);
});
