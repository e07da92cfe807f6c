// The first lines on a Node that is too old, and the last ones into a closed pipe.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const start = join(import.meta.dirname, 'start.ts');

test('an old Node is reported in one sentence', () => {
  const disguise = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });`;
  const words = ['--import', `data:text/javascript,${encodeURIComponent(disguise)}`, start, '--version'];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  expect([status, stdout]).toEqual([6, '']);
  expect(stderr).toBe('error: svc-relay needs Node 24 or newer, and this is Node 20.20.2.\n');
});

test('a reader of the help that goes away is not a failure', () => {
  const script = '"$0" "$1" serve --help | true; echo "${PIPESTATUS[0]}"';
  const { stdout, stderr } = spawnSync('bash', ['-c', script, process.execPath, start], { encoding: 'utf8' });
  expect([stdout.trim(), stderr]).toEqual(['0', '']);
});
