import { existsSync } from 'node:fs';
import { testTerminal } from '@svc/testkit';
import { expect, test } from 'vitest';
import { type Host, thisProcess } from '../../kernel/instance/control.ts';
import { demoStart, demoVerb } from './verbs.ts';

async function run(words: readonly string[], code = 0) {
  const started: (readonly string[])[] = [];
  const exits: (number | undefined)[] = [];
  const host = {
    ...thisProcess,
    program: ['/bin/node', '--flag', '/opt/svc.js'],
    exit: (ended?: number) => void exits.push(ended),
  } as unknown as Host;
  const verb = demoVerb(testTerminal(), {
    host,
    run: (command) => {
      started.push(command);
      return Promise.resolve(code);
    },
  });
  verb.exitOverride().configureOutput({ writeErr: () => undefined });
  await verb.parseAsync([...words], { from: 'user' });
  return { started: started[0] ?? [], exits };
}

test('the demo is started with the command that runs this svc', async () => {
  const { started, exits } = await run([]);
  expect(started[0]).toBe('/bin/node');
  expect(started.slice(2)).toEqual(['--minutes=3', '--port=0', '--', '/bin/node', '--flag', '/opt/svc.js']);
  expect(exits).toEqual([]);
});

test('options are passed on', async () => {
  const { started } = await run(['--minutes', '0.2', '--no-open', '--exit', '--port', '7401']);
  expect(started.slice(2, 6)).toEqual(['--minutes=0.2', '--port=7401', '--no-open', '--exit']);
});

test('its exit code is the exit code', async () => {
  expect((await run([], 130)).exits).toEqual([130]);
});

test.each([
  ['--minutes', '0'],
  ['--minutes', ''],
  ['--minutes', 'many'],
  ['--minutes', '1000'],
  ['--port', '-1'],
  ['--port', '70000'],
])('%s %j is refused', async (option, value) => {
  await expect(run([option, value])).rejects.toThrow('is invalid');
});

test('it is next to the bundle, or in its own package', () => {
  expect(demoStart('/opt/svc/dist')).toBe('/opt/svc/dist/demo/demo.js');
  expect(existsSync(demoStart())).toBe(true);
});
