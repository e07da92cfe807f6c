// Whether leftovers would be found.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createPerson, filesLeft, processesLeft } from './person.ts';

async function newPerson() {
  const person = await createPerson(process.execPath);
  onTestFinished(person.remove);
  return person;
}

it('has nothing of ours, and only the programs of this machine', async () => {
  const person = await newPerson();
  expect([filesLeft(person), processesLeft(person)]).toEqual([[], []]);
  expect(person.project).toContain(' ');
  expect(Object.keys(person.environment).toSorted()).toEqual(
    [
      'HOME',
      'LANG',
      'NO_COLOR',
      'PATH',
      'TMPDIR',
      'npm_config_cache',
      'npm_config_update_notifier',
    ].toSorted(),
  );
  expect(person.environment['PATH']).not.toContain(`${join(import.meta.dirname, '..')}/`);
});

it('finds leftovers in the home and in the temporary folder, except for Node’s compile cache', async () => {
  const person = await newPerson();
  writeFileSync(join(person.home, '.svcrc'), '');
  mkdirSync(join(person.temporary, 'svc-demo-x'));
  mkdirSync(join(person.temporary, 'node-compile-cache'));
  expect(filesLeft(person)).toEqual([join(person.home, '.svcrc'), join(person.temporary, 'svc-demo-x')]);
});

it.runIf(process.platform === 'linux')('finds a running process by its folder or its arguments', async () => {
  const person = await newPerson();
  const inFolder = spawn('sleep', ['600'], { cwd: person.home });
  const byWords = spawn(process.execPath, ['--eval', 'setTimeout(() => {}, 600_000)', person.project], {
    cwd: '/',
  });
  onTestFinished(() => {
    for (const child of [inFolder, byWords]) child.kill('SIGKILL');
  });
  await expect.poll(() => processesLeft(person).length).toBe(2);
});
