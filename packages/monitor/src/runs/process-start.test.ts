import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isSameProcess, startsFromProc, startsFromPs } from './processes.ts';

/** Runs until it is killed, or until this process ends. */
function child(): number {
  const started = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  onTestFinished(() => void started.kill('SIGKILL'));
  return started.pid ?? 0;
}

/** The system reports whole seconds, and counts them from a boot time in whole seconds. */
const UNSURE_MS = 2_500;

async function endedPid(): Promise<number> {
  const ended = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  await once(ended, 'exit');
  return ended.pid ?? 0;
}

const ways =
  process.platform === 'linux' ? { '/proc': startsFromProc, ps: startsFromPs } : { ps: startsFromPs };

describe.each(Object.entries(ways))('%s', (_name, starts) => {
  test('reports when a process started, and that another is gone', async () => {
    const before = Date.now();
    const pid = child();
    const after = Date.now();
    const gone = await endedPid();
    const found = await starts([pid, process.pid, gone]);
    const start = found.get(pid);
    const startedAt = start?.state === 'running' ? start.startedAt : Number.NaN;
    expect(startedAt).toBeGreaterThan(before - UNSURE_MS);
    expect(startedAt).toBeLessThan(after + UNSURE_MS);
    expect(found.get(process.pid)?.state).toBe('running');
    expect(found.get(gone)).toEqual({ state: 'gone' });
    expect((await starts([pid])).get(pid)).toMatchObject({ mark: start?.state === 'running' && start.mark });
    expect(await starts([])).toEqual(new Map());
    expect(await starts([gone])).toEqual(new Map([[gone, { state: 'gone' }]]));
  });

  test('a zombie is gone', async () => {
    // The shell becomes `cat`, which never collects its child.
    const parent = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec cat'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const pid = Number(String((await once(parent.stdout, 'data'))[0]));
    await expect.poll(async () => (await starts([pid])).get(pid)).toEqual({ state: 'gone' });
  });
});

const startedAt = Date.parse('2026-01-02T03:04:05.500Z');

test.each([
  ['2026-01-02T03:04:05Z', true],
  ['2026-01-02T04:04:06.900+01:00', true],
  ['2026-01-02 03:04:05', true],
  ['Fri Jan  2 03:04:05 2026', true],
  [startedAt, true],
  [Math.floor(startedAt / 1000), true],
  [String(startedAt / 1000), true],
  ['123456', true],
  [123_456, true],
  ['2026-01-02T03:04:08Z', false],
  ['2026-01-02T03:04:03Z', false],
  [startedAt + 2_001, false],
  [startedAt / 1000 - 3, false],
  [99, null],
  ['soon', null],
  ['', null],
  [null, null],
  [undefined, null],
])('a start written as %j: %j', (written, same) => {
  expect(isSameProcess({ state: 'running', startedAt, mark: '123456' }, written)).toBe(same);
});
