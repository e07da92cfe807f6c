import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandEnd, runCommand } from '@svc/lib/process';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { checkProgram } from './io/launch.ts';

const PATH = '/usr/bin:/bin';

function setUp() {
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

test('a program in the PATH, by its full path, or by one relative to the project', async () => {
  const { write, check } = setUp();
  const path = write('bin/agent', '#!/bin/sh\n[ "$*" = --version ] && echo 1.2.3\n');
  for (const program of ['agent', path, './bin/agent']) await expect(check(program)).resolves.toBeUndefined();
  // A shell that does not know the option has answered too.
  await expect(check('/bin/sh')).resolves.toBeUndefined();
});

test("missing, not a program, or without its interpreter: refused, with the shell's message and the fix", async () => {
  const { write, check } = setUp();
  write('bin/text', 'no program\n', 0o644);
  write('bin/script', '#!/usr/bin/env no-such-node\n');
  write('bin/agent', '#!/bin/sh\nexit 0\n');
  for (const [program, text] of [
    ['claude', 'claude: not found'],
    ['/no/such/claude', 'it was not found'],
    ['./bin/text', 'it cannot be executed'],
    ['script', 'no-such-node'],
  ] as const)
    await expect(check(program), program).rejects.toMatchObject({
      code: 'start-failed',
      message: expect.stringContaining(text),
      remedy: expect.stringContaining('svc.orchestration.agent'),
    });
  // The PATH of the agent, not of this process.
  await expect(check('agent', PATH)).rejects.toMatchObject({ code: 'start-failed' });
});

test.each<[CommandEnd, string]>([
  [{ ended: 'timeout' }, 'did not answer --version'],
  [{ ended: 'stopped' }, 'a signal ended it'],
])('no answer is a failure: %j', async (end, text) => {
  const asked = checkProgram({ template: ['agent'], folder: '/', environment: {}, run: async () => end });
  await expect(asked).rejects.toThrow(text);
});

test('a program whose path depends on the worktree is not checked', async () => {
  const run = () => Promise.reject(new Error('it was asked'));
  const template = ['${WORKTREE_PATH}/agent'];
  await expect(checkProgram({ template, folder: '/', environment: {}, run })).resolves.toBeUndefined();
});
