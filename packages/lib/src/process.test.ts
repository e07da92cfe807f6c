import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, until, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { needPid, readPid } from './pid.ts';
import { type Command, runCommand } from './process.ts';

const command = (script: string, more: Partial<Command> = {}): Command => ({
  file: 'sh',
  args: ['-c', script],
  environment: { PATH: '/usr/bin:/bin', ONLY: 'this' },
  timeoutMs: WAIT_MS,
  maxBytes: 10_000,
  ...more,
});

test('passes input and environment, and returns output and exit code', async () => {
  const end = await runCommand(command('cat; echo "$ONLY$HOME" >&2; exit 3', { input: 'given\n' }));
  expect(end).toEqual({ ended: 'exit', exitCode: 3, stdout: 'given\n', stderr: 'this\n' });
});

test.each([
  ['missing', { file: 'no-such-program-anywhere' }, { ended: 'not-started', reason: 'ENOENT' }],
  ['endless', { args: ['-c', 'sleep 600 & wait'], timeoutMs: 100 }, { ended: 'timeout' }],
  ['talkative', { args: ['-c', 'yes'] }, { ended: 'too-large' }],
])('a %s program ends', async (_name, more, expected) => {
  expect(await runCommand(command('', more))).toEqual(expected);
});

test('programs with endless output use no more memory than their limits allow, and are stopped', async () => {
  const bound = 32 * 1024 * 1024;
  const pidFile = join(temporaryFolder(), 'pid');
  const before = process.memoryUsage().rss;
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
  const script = `yes & echo $! > ${pidFile}; wait`;
  const ends = await Promise.all([1, 2, 3].map(() => runCommand(command(script, { maxBytes: bound }))));
  clearInterval(watch);
  expect(ends).toEqual(Array.from({ length: 3 }, () => ({ ended: 'too-large' })));
  expect((most - before) / bound).toBeLessThan(8);
  await until(() => commandLineOf(needPid(readFileSync(pidFile, 'utf8'))) === '');
});

test('a stop ends it and everything that it started', async () => {
  const stop = new AbortController();
  const pidFile = join(temporaryFolder(), 'pid');
  const script = `sleep 600 > /dev/null 2>&1 & echo $! > ${pidFile}; wait`;
  const running = runCommand(command(script, { signal: stop.signal }));
  const pid = await until(() => (existsSync(pidFile) ? readPid(readFileSync(pidFile, 'utf8')) : undefined));
  onTestFinished(() => void spawnSync('kill', [`${pid}`]));
  stop.abort();
  expect(await running).toEqual({ ended: 'stopped' });
  await until(() => commandLineOf(pid) === '');
});

/** Empty once it has ended. */
function commandLineOf(pid: number): string {
  const path = `/proc/${pid}/cmdline`;
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
