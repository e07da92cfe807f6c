import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandEnd, runCommand } from '@svc/lib/process';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { checkProgram } from './launch.ts';

const PATH = '/usr/bin:/bin';

function place() {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'bin'));
  const write = (name: string, text: string, mode = 0o755): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  };
  const check = (program: string, path = `${join(folder, 'bin')}:${PATH}`) =>
    checkProgram({ template: [program, '-p'], folder, environment: { PATH: path }, run: runCommand });
  return { folder, write, check };
}

test('a program of the PATH, by its full path, or by one below the project', async () => {
  const { write, check } = place();
  const path = write('bin/agent', '#!/bin/sh\n[ "$*" = --version ] && echo 1.2.3\n');
  for (const program of ['agent', path, './bin/agent']) await expect(check(program)).resolves.toBeUndefined();
  // A shell that does not know the option has answered too.
  await expect(check('/bin/sh')).resolves.toBeUndefined();
});

test('not there, no program, or without what runs it: refused, with what the shell says and the remedy', async () => {
  const { write, check } = place();
  write('bin/text', 'no program\n', 0o644);
  write('bin/script', '#!/usr/bin/env no-such-node\n');
  write('bin/agent', '#!/bin/sh\nexit 0\n');
  for (const [program, words] of [
    ['claude', 'claude: not found'],
    ['/no/such/claude', 'it was not found'],
    ['./bin/text', 'it cannot be executed'],
    ['script', 'no-such-node'],
  ] as const)
    await expect(check(program), program).rejects.toMatchObject({
      code: 'start-failed',
      message: expect.stringContaining(words),
      remedy: expect.stringContaining('svc.orchestration.agent'),
    });
  // The PATH is that of the agent, not that of this process.
  await expect(check('agent', PATH)).rejects.toMatchObject({ code: 'start-failed' });
});

test.each<[CommandEnd, string]>([
  [{ ended: 'timeout' }, 'did not answer to --version'],
  [{ ended: 'stopped' }, 'ended by a signal'],
])('no answer is none: %j', async (end, words) => {
  const asked = checkProgram({ template: ['agent'], folder: '/', environment: {}, run: async () => end });
  await expect(asked).rejects.toThrow(words);
});

test('a program that is only known in its worktree is not asked', async () => {
  const run = () => Promise.reject(new Error('it was asked'));
  const template = ['${WORKTREE_PATH}/agent'];
  await expect(checkProgram({ template, folder: '/', environment: {}, run })).resolves.toBeUndefined();
});
