// What the smallest commands load of the shipped program: no schema for a verb that asks the daemon.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, test } from 'vitest';

const program = join(import.meta.dirname, '../dist/svc.js');

/** Notes every file that is loaded, however it is imported. */
const recorder = `
  import { writeSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({ load: (url, context, next) => (writeSync(3, url + '\\n'), next(url, context)) });
`;

/** The files of ours that a command loads, without a daemon. */
function loadedBy(words: readonly string[]): string[] {
  const home = temporaryFolder();
  const hook = join(home, 'recorder.mjs');
  writeFileSync(hook, recorder);
  const { output } = spawnSync(process.execPath, ['--import', hook, program, ...words], {
    env: { PATH: process.env['PATH'], HOME: home },
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const urls = String(output[3]).trim().split('\n');
  const files = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
  return files.filter((file) => file !== hook);
}

const hasSchemas = (file: string): boolean => readFileSync(file, 'utf8').includes('ZodRealError');
const loadsSchemas = (words: readonly string[]): boolean => loadedBy(words).some(hasSchemas);

describe('the built program', () => {
  test.each([
    ['the version', 3, ['--version']],
    ['help', 3, ['--help']],
    ['help of a verb', 3, ['deploy', 'retry', '--help']],
    ['completion', 4, ['complete', 'bash', '1', 'svc', 'depl']],
    ['a hook of an agent', 6, ['hook', 'claude', 'PostToolUse', '.', '1']],
  ])('%s loads at most %i files', (_what, most, words) => {
    const files = loadedBy(words);
    expect(files[0]).toBe(program);
    expect(files.length).toBeLessThanOrEqual(most);
    expect(files.some(hasSchemas)).toBe(false);
  });

  test.each([
    'board',
    'attention list',
    'why ABC-1',
    'receipt ABC-1',
    'trace ABC-1',
    'worker list',
    'agent list',
    'deploy status ABC-1',
    'outbox',
    'feeds',
  ])('svc %s asks the daemon without a schema', (line) => expect(loadsSchemas(line.split(' '))).toBe(false));

  test('a verb that reads files checks them by their schemas', () =>
    expect(loadsSchemas(['config', 'validate'])).toBe(true));
});
