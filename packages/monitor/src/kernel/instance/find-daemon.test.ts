import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder, WAIT_MS } from '@svc/testkit';
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startDaemon, stopDaemon } from './control.ts';
import type { DaemonRecord } from './daemon-record.ts';
import { askHealth, findDaemon, waitForDaemon } from './find-daemon.ts';
import { claimInstance } from './instance.ts';

const identity = {
  instance: '00000000-0000-4000-8000-000000000001',
  pid: 4321,
  port: 7400,
  url: 'http://127.0.0.1:7400',
  version: '1.2.3',
  startedAt: '2026-01-02T03:04:05.678Z',
};

/** A server that answers on a free port; undefined never answers. */
async function answering(body: unknown, status = 200): Promise<number> {
  const server = createServer((_request, response) => {
    if (body === undefined) return;
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close().closeAllConnections());
  return (server.address() as AddressInfo).port;
}

function dataRoot(given: { record?: Partial<DaemonRecord>; held: boolean }): string {
  const dataDir = temporaryFolder();
  const instance = given.held ? claimInstance(dataDir) : undefined;
  if (instance) onTestFinished(() => instance.withdraw());
  if (given.record) {
    writeFileSync(
      join(dataDir, 'daemon.json'),
      JSON.stringify({ state: 'running', ...identity, ...given.record }),
    );
  }
  return dataDir;
}

// Only the last test is about how long the daemon may take to answer.
const limit = vi.spyOn(AbortSignal, 'timeout');
beforeEach(() => void limit.mockImplementation(() => new AbortController().signal));
afterAll(() => limit.mockRestore());

test('the first process of the system is not signalled, even if it is the daemon', async () => {
  const answer = { ...identity, pid: 1 };
  const port = await answering(answer);
  const dataDir = dataRoot({ record: { pid: 1, port, url: `http://127.0.0.1:${port}` }, held: true });
  const signal = vi.fn<(pid: number) => void>();
  await expect(stopDaemon({ dataDir, signal, interrupted: new AbortController().signal })).rejects.toThrow(
    'The daemon is process 1',
  );
  expect(signal).not.toHaveBeenCalled();
});

/** A daemon that answers before it has checked its files. */
function unchecked(then: string): string[] {
  const script = join(temporaryFolder(), 'daemon.mts');
  const instance = join(import.meta.dirname, 'instance.ts');
  writeFileSync(
    script,
    `import { createServer } from 'node:http';
    import { claimInstance } from ${JSON.stringify(instance)};
    const instance = claimInstance(process.env.DATA);
    let answer;
    const server = createServer((_, response) => {
      response.end(JSON.stringify(answer));
      ${then}
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      const more = { pid: process.pid, port, url: 'http://127.0.0.1:' + port };
      answer = { ...${JSON.stringify(identity)}, ...more, filesChecked: false };
      void instance.announce({ state: 'running', ...${JSON.stringify(identity)}, ...more });
    });`,
  );
  return [process.execPath, script];
}

test.each([
  ['ends', 'setTimeout(() => process.exit(3), 200);', 60_000, 'The daemon did not start (exit code 3).'],
  ['stays', '', 5_000, 'answers at http://127.0.0.1:'],
])(
  'a daemon that answers before it has checked its files, and then %s, has not started',
  async (_, then, timeoutMs, message) => {
    const dataDir = temporaryFolder();
    onTestFinished(async () => {
      const found = await findDaemon(dataDir);
      if (found.state === 'running') process.kill(found.daemon.pid, 'SIGKILL');
    });
    const started = startDaemon({
      dataDir,
      program: unchecked(then),
      environment: async () => ({ PATH: process.env['PATH'], DATA: dataDir }),
      folder: dataDir,
      onWaiting: () => undefined,
      interrupted: new AbortController().signal,
      timeoutMs,
    });
    await expect(started).rejects.toMatchObject({
      code: 'start-failed',
      message: expect.stringContaining(message),
    });
    if (then === '') await expect(started).rejects.toThrow('has not checked its files after 5 s');
  },
);

test('running: it answers with the recorded instance and pid', async () => {
  const port = await answering({ ...identity, feeds: {} });
  const found = await findDaemon(dataRoot({ record: { port }, held: true }));
  expect(found).toEqual({ state: 'running', daemon: identity });
});

describe('never mistaken for the daemon', () => {
  test.each([
    ['another instance', { ...identity, instance: '00000000-0000-4000-8000-000000000002' }, 200],
    ['a reused pid', { ...identity, pid: 1 }, 200],
    ['another program', 'hello', 200],
    ['a program without a health route', identity, 404],
    ['JSON of something else', { status: 'ok' }, 200],
  ])('%s', async (_, body, status) => {
    const port = await answering(body, status);
    expect(await findDaemon(dataRoot({ record: { port }, held: false }))).toEqual({ state: 'stopped' });
    expect(await findDaemon(dataRoot({ record: { port }, held: true }))).toMatchObject({
      state: 'not-answering',
      record: { pid: identity.pid },
    });
  });
});

test('starting: the lock is held, and there is no address yet', async () => {
  expect(await findDaemon(dataRoot({ held: true }))).toEqual({ state: 'starting' });
});

test('stopping: the holder has recorded it', async () => {
  expect(await findDaemon(dataRoot({ record: { state: 'stopping' }, held: true }))).toMatchObject({
    state: 'stopping',
  });
});

test('stopped: there is no daemon', async () => {
  expect(await findDaemon(join(temporaryFolder(), 'absent'))).toEqual({ state: 'stopped' });
});

test('waiting ends when the condition holds, and when the user interrupts', async () => {
  const dataDir = dataRoot({ held: true });
  const interrupt = new AbortController();
  const timeoutMs = 10 * WAIT_MS;
  const waiting = waitForDaemon(dataDir, () => false, { timeoutMs, interrupted: interrupt.signal });
  interrupt.abort();
  expect(await waiting).toEqual({ state: 'starting' });
});

test('a port that never answers is given up in time', async () => {
  limit.mockRestore();
  expect(await askHealth(temporaryFolder(), await answering(undefined), { timeoutMs: 100 })).toBeUndefined();
});
