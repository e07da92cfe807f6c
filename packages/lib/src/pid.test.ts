import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { groupExists, isPid, needPid, processExists, readPid, signalGroup } from './pid.ts';
import { system } from './system.ts';

/** What a marker may hold, and what must never be signalled nor count as running. */
const impossible = [0, -0, 1, -1, -process.pid, Number.NaN, 1.5, Number.POSITIVE_INFINITY];

test.each<[string, number | undefined]>([
  ['4711', 4711],
  ['4711\n', 4711],
  ['2', 2],
  ['', undefined],
  ['\n', undefined],
  ['0', undefined],
  ['1\n', undefined],
  ['-4711', undefined],
  ['4711 4712', undefined],
  ['4711x', undefined],
  ['1e3', undefined],
  ['0x10', undefined],
  ['47.11', undefined],
  ['99999999999', undefined],
])('the text %j is the process %j', (text, pid) => {
  expect(readPid(text)).toBe(pid);
  if (pid === undefined) expect(() => needPid(text)).toThrow('is not the id of a process');
  else expect(needPid(text)).toBe(pid);
});

test.each(impossible)('%d is never signalled, does not exist, and is not running', async (pid) => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  onTestFinished(() => kill.mockRestore());
  expect([isPid(pid), processExists(pid), groupExists(pid)]).toEqual([false, false, false]);
  expect(() => signalGroup(pid, 'SIGKILL')).toThrow('is not the id of a process');
  expect((await system.processStarts([pid])).get(pid)).toMatchObject({ state: 'unknown' });
  expect(kill).not.toHaveBeenCalled();
});

test('a group is ended by its leader, and then it is gone', async () => {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const pid = child.pid ?? 0;
  expect([processExists(pid), groupExists(pid), signalGroup(pid, 0)]).toEqual([true, true, true]);
  expect(signalGroup(pid, 'SIGKILL')).toBe(true);
  await once(child, 'exit');
  expect([processExists(pid), groupExists(pid), signalGroup(pid, 'SIGKILL')]).toEqual([false, false, false]);
});
