import type { CommandEnd, RunCommand } from '@svc/lib/process';
import { expect, test, vi } from 'vitest';
import { createExamination } from './examination.ts';

const answer = JSON.stringify({ ok: false, broken: 1, warnings: 0, unknown: 0, findings: [] });

function examination(end: CommandEnd, program: readonly string[] = ['node', 'svc.js']) {
  const run = vi.fn<RunCommand>(() => Promise.resolve(end));
  return {
    run,
    examine: createExamination({ program, environment: { HOME: '/home/ann', NONE: undefined }, run }),
  };
}

test('it is the doctor of the command line, and what is broken is an answer', async () => {
  const { run, examine } = examination({ ended: 'exit', exitCode: 1, stdout: answer, stderr: '' });
  expect(await examine()).toMatchObject({ ok: false, broken: 1 });
  expect(run.mock.calls[0]?.[0]).toMatchObject({
    file: 'node',
    args: ['svc.js', 'doctor', '--json'],
    environment: { HOME: '/home/ann' },
  });
});

test('whoever asks meanwhile gets the same one; later it is a new one', async () => {
  const { run, examine } = examination({ ended: 'exit', exitCode: 0, stdout: answer, stderr: '' });
  await Promise.all([examine(), examine()]);
  expect(run).toHaveBeenCalledTimes(1);
  await examine();
  expect(run).toHaveBeenCalledTimes(2);
});

test.each<[string, CommandEnd, string]>([
  ['too slow', { ended: 'timeout' }, 'busy'],
  ['not there', { ended: 'not-started', reason: 'ENOENT' }, 'start-failed'],
  ['a bug', { ended: 'exit', exitCode: 70, stdout: '', stderr: 'boom' }, 'start-failed'],
])('%s: refused, with the way to do it by hand', async (_, end, code) => {
  await expect(examination(end).examine()).rejects.toMatchObject({
    code,
    remedy: 'Run it yourself: svc doctor',
  });
});

test('without a program it says so', async () => {
  const { examine } = examination({ ended: 'exit', exitCode: 0, stdout: answer, stderr: '' }, []);
  await expect(examine()).rejects.toMatchObject({ code: 'not-in-this-version' });
});
