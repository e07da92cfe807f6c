import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, until } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readMachine } from '../kernel/config/environment.ts';
import type { Host } from '../kernel/instance/control.ts';
import { readRecord } from '../kernel/instance/daemon-record.ts';
import { findDaemon } from '../kernel/instance/find-daemon.ts';
import { runUntilStopped } from './lifetime.ts';

class Exit extends Error {}

/** A daemon in this process: signals and faults come from the test, and an exit is only recorded. */
function daemonIn(home: string, environment: Record<string, string> = {}) {
  const machine = readMachine({ SVC_MONITOR_PORT: '0', ...environment }, home);
  const exits: (number | undefined)[] = [];
  let over = false;
  let signal: (name: NodeJS.Signals) => void = () => undefined;
  let fault: (error: unknown) => void = () => undefined;
  const output = openSync(join(home, 'output'), 'a');
  onTestFinished(() => closeSync(output));
  const host: Host = {
    pid: process.pid,
    program: [],
    standardOutput: output,
    signal: () => undefined,
    onStopSignal: (listener) => (signal = listener),
    onFault: (listener) => (fault = listener),
    exit(code) {
      // The test process lives longer than a daemon may after its end: by then no one handles an exception.
      if (over) return undefined as never;
      exits.push(code);
      throw new Exit();
    },
  };
  const logFile = join(home, 'log');
  const ended = runUntilStopped({
    machine,
    environment: {},
    folder: home,
    version: '1.2.3',
    now: () => new Date(),
    host,
    logFile,
  }).finally(() => (over = true));
  return {
    dataDir: machine.dataDir,
    exits,
    ended,
    signal: (name: NodeJS.Signals) => signal(name),
    fault: (error: unknown) => fault(error),
    log: () => readFileSync(logFile, 'utf8'),
    answers: () => until(async () => (await findDaemon(machine.dataDir)).state === 'running'),
  };
}

test('from start to exit', async () => {
  const daemon = daemonIn(temporaryFolder());
  await daemon.answers();
  expect(readRecord(daemon.dataDir)).toMatchObject({ state: 'running', pid: process.pid, version: '1.2.3' });
  daemon.signal('SIGTERM');
  await daemon.ended;
  expect(await findDaemon(daemon.dataDir)).toEqual({ state: 'stopped' });
  expect(existsSync(join(daemon.dataDir, 'daemon.json'))).toBe(false);
  expect(daemon.log()).toMatch(/"signal":"SIGTERM","msg":"stopping"[^]*"msg":"daemon stopped"/);
  expect(daemon.exits).toEqual([]);
});

test('a second one reports the first', async () => {
  const home = temporaryFolder();
  const first = daemonIn(home);
  await first.answers();
  const { pid, url } = readRecord(first.dataDir) ?? {};
  await expect(daemonIn(home).ended).rejects.toMatchObject({
    code: 'already-running',
    exitCode: 6,
    message: `The daemon of ${first.dataDir} is already running: pid ${pid}, ${url}`,
  });
  first.signal('SIGINT');
  await first.ended;
});

test('the failure for a taken port names the variable, and whose daemon it is', async () => {
  const first = daemonIn(temporaryFolder());
  await first.answers();
  // The other daemon is asked for its identity. How long that may take is not tested here.
  const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
  onTestFinished(() => limit.mockRestore());
  const port = readRecord(first.dataDir)?.port;
  const second = daemonIn(temporaryFolder(), { SVC_MONITOR_PORT: String(port) });
  await expect(second.ended).rejects.toMatchObject({
    code: 'port-taken',
    exitCode: 6,
    message: `Port ${port} is in use by the daemon of another data root (pid ${process.pid}).`,
    remedy: expect.stringContaining('SVC_MONITOR_PORT'),
  });
  expect(await findDaemon(second.dataDir)).toEqual({ state: 'stopped' });
  first.signal('SIGINT');
  await first.ended;
});

test('a second signal ends it at once, a bug ends it with 70 and a line in the log', async () => {
  const daemon = daemonIn(temporaryFolder());
  await daemon.answers();
  expect(() => daemon.fault(new TypeError('boom'))).toThrow(Exit);
  daemon.signal('SIGTERM');
  expect(() => daemon.signal('SIGTERM')).toThrow(Exit);
  expect(daemon.exits).toEqual([70, 143]);
  await daemon.ended;
  expect(daemon.log()).toContain('boom');
});
