// The command that tries a verifying agent on small repositories, with scripted answers.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the verdict of each repository is the one that its agent proved', () => {
  const args = [join(import.meta.dirname, 'verifier-fixtures.ts'), '--scripted', '--only', '4'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ status, stderr }, stdout).toMatchObject({ status: 0 });
  expect(stdout).toContain('gaps found 2 of 2, taken as done 0; honest ones taken as done 2 of 2, refuted 0');
});
