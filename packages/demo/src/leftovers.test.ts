import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, until } from '@svc/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { MARKER } from './home.ts';
import { removeLeftovers } from './leftovers.ts';

const now = new Date();
const booted = new Date(now.getTime() - 3_600_000);
const minuteAgo = new Date(now.getTime() - 60_000).toISOString();
/** No process can have this id. */
const UNUSED_PID = 2 ** 22 + 9;

function homeIn(parent: string, name: string, marker?: object): string {
  const home = join(parent, name);
  mkdirSync(join(home, 'svc'), { recursive: true });
  if (marker !== undefined) writeFileSync(join(home, MARKER), JSON.stringify(marker));
  return home;
}

/** A process that waits in a folder, as a daemon would. */
async function waiting(folder: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (child.stdout) await once(child.stdout, 'data');
  return child;
}

const announce = (home: string, pid: number | undefined): void =>
  writeFileSync(join(home, 'svc/daemon.json'), JSON.stringify({ pid, port: 9, instance: 'one' }));

it('removes the home of a demo that has ended', async () => {
  const parent = temporaryFolder();
  const home = homeIn(parent, 'svc-demo-a', { pid: UNUSED_PID, startedAt: minuteAgo });
  expect(await removeLeftovers(parent, now, booted)).toEqual([{ home }]);
  expect(existsSync(home)).toBe(false);
});

it.runIf(existsSync('/proc/self/stat'))('removes one whose process is a zombie', async () => {
  const parent = temporaryFolder();
  // The shell becomes a program that never waits for its child.
  const shell = spawn('/bin/sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1000'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void shell.kill('SIGKILL'));
  const [printed] = (await once(shell.stdout, 'data')) as [Buffer];
  const pid = Number(String(printed));
  await until(() => readFileSync(`/proc/${shell.pid}/comm`, 'latin1') === 'sleep\n');
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'latin1')).toContain(') Z ');
  const home = homeIn(parent, 'svc-demo-a', { pid, startedAt: minuteAgo });
  expect(await removeLeftovers(parent, now, booted)).toEqual([{ home }]);
});

it('removes one from before the last boot, even if its process id is in use again', async () => {
  const parent = temporaryFolder();
  const startedAt = new Date(booted.getTime() - 60_000).toISOString();
  const home = homeIn(parent, 'svc-demo-a', { pid: process.pid, startedAt });
  expect(await removeLeftovers(parent, now, booted)).toEqual([{ home }]);
});

it('keeps a running demo, one that is being created, and other folders', async () => {
  const parent = temporaryFolder();
  const runs = homeIn(parent, 'svc-demo-runs', { pid: process.pid, startedAt: minuteAgo });
  const made = homeIn(parent, 'svc-demo-made');
  const other = homeIn(parent, 'other', { pid: UNUSED_PID, startedAt: minuteAgo });
  symlinkSync(other, join(parent, 'svc-demo-link'));
  expect(await removeLeftovers(parent, now, booted)).toEqual([]);
  expect([runs, made, other].map((home) => existsSync(home))).toEqual([true, true, true]);
});

it('removes one without a marker when it is old', async () => {
  const parent = temporaryFolder();
  const home = homeIn(parent, 'svc-demo-a');
  utimesSync(home, booted, booted);
  expect(await removeLeftovers(parent, now, booted)).toEqual([{ home }]);
});

it('kills the daemon that runs in it', async () => {
  const parent = temporaryFolder();
  const home = homeIn(parent, 'svc-demo-a', { pid: UNUSED_PID, startedAt: minuteAgo });
  const daemon = await waiting(join(home, 'svc'));
  announce(home, daemon.pid);
  const ended = once(daemon, 'exit');
  expect(await removeLeftovers(parent, now, booted)).toEqual([{ home }]);
  await ended;
  expect(daemon.signalCode).toBe('SIGKILL');
});

it('kills no process that is not its daemon', async () => {
  const parent = temporaryFolder();
  const home = homeIn(parent, 'svc-demo-a', { pid: UNUSED_PID, startedAt: minuteAgo });
  const stranger = await waiting(parent);
  announce(home, stranger.pid);
  expect(await removeLeftovers(parent, now, booted)).toEqual([{ home }]);
  expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
});
