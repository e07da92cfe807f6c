import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Command, runCommand } from './run-command.ts';

const command = (script: string, more: Partial<Command> = {}): Command => ({
  file: 'sh',
  args: ['-c', script],
  environment: { PATH: '/usr/bin:/bin', ONLY: 'this' },
  timeoutMs: 5_000,
  maxBytes: 10_000,
  ...more,
});

test('gives input and environment, and brings back output and exit code', async () => {
  const end = await runCommand(command('cat; echo "$ONLY$HOME" >&2; exit 3', { input: 'told\n' }));
  expect(end).toEqual({ ended: 'exit', exitCode: 3, stdout: 'told\n', stderr: 'this\n' });
});

test.each([
  ['missing', { file: 'no-such-program-anywhere' }, { ended: 'not-started', reason: 'ENOENT' }],
  ['endless', { args: ['-c', 'sleep 30 & wait'], timeoutMs: 100 }, { ended: 'timeout' }],
  ['talkative', { args: ['-c', 'yes'] }, { ended: 'too-large' }],
])('a %s program ends', async (_name, more, expected) => {
  const started = performance.now();
  expect(await runCommand(command('', more))).toEqual(expected);
  expect(performance.now() - started).toBeLessThan(4_000);
});

test('a stop ends it and all that it started', async () => {
  const stop = new AbortController();
  const running = runCommand(command('sleep 43210 & sleep 43210', { signal: stop.signal }));
  await sleep(200);
  stop.abort();
  expect(await running).toEqual({ ended: 'stopped' });
  await sleep(100);
  expect(commandLines().filter((line) => line.includes('43210'))).toEqual([]);
});

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        // It ended while we looked.
        return '';
      }
    });
}
