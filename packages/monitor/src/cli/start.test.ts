// The first file, on a Node that is too old for the others.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test.each(['20.20.2', '22.4.0'])('Node %s is reported as too old', (version) => {
  const disguise = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`;
  const words = ['--import', `data:text/javascript,${encodeURIComponent(disguise)}`];
  const start = join(import.meta.dirname, 'start.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [...words, start, '--version'], {
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([6, '']);
  expect(stderr).toMatch(/^error: svc needs Node 24 or newer, but this is Node 2\d\.\d+\.\d\.\n.*\n$/);
});
