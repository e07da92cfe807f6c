// The README's console examples, run as a new user would: the output matches.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const examples = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```console\n(.*?)^```/gms)]
  .flatMap(([, block = '']) => block.split(/^\$ /m).slice(1))
  .map((example) => ({
    command: example.split('\n')[0] ?? '',
    shown: example.split('\n').slice(1).join('\n'),
  }));

test('every console example of the README is true', () => {
  const home = temporaryFolder();
  const app = join(home, 'app');
  mkdirSync(join(app, '.git'), { recursive: true });
  expect(examples.length).toBeGreaterThan(2);
  for (const { command, shown } of examples) {
    const env = { HOME: home, PATH: `${join(root, 'bin')}:${process.env['PATH']}` };
    const printed = execFileSync('sh', ['-c', command], { cwd: app, env, encoding: 'utf8' });
    expect(printed.replaceAll(home, '/home/you')).toBe(shown);
  }
});
