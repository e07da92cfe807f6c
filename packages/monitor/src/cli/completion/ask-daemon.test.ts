import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { claimInstance } from '../../kernel/instance/instance.ts';
import { askDaemon, namesHere } from './ask-daemon.ts';

const instance = '6f1a2c1e-5d35-4f2c-9f0e-2f8a3f6f7c10';
const board = {
  instanceId: instance,
  workers: [{ ticket: 'ABC-1', status: 'implementing', orchestrator: 'run-1', process: { state: 'dead' } }],
  pullRequests: [],
  tickets: [{ ticket: 'ABC-2', title: 'Turn\u001b[2J it\n off' }],
  runs: [{ orchestrator: 'run-1', state: 'running' }],
  attention: [{ id: 'run-1/ABC-1/deploy-timeout', message: 'late' }],
};

/** A data root whose record names a server that answers so. */
async function dataRoot(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return withRecord((server.address() as AddressInfo).port);
}

function withRecord(port: number): string {
  const folder = temporaryFolder();
  const [url, startedAt] = [`http://127.0.0.1:${port}`, '2026-01-02T03:04:05.678Z'];
  const record = { state: 'running', instance, pid: 1, port, url, version: '1.2.3', startedAt };
  const held = claimInstance(folder);
  onTestFinished(() => held?.withdraw());
  writeFileSync(join(folder, 'daemon.json'), JSON.stringify(record));
  return folder;
}

const says =
  (body: unknown, status = 200): RequestListener =>
  (_, response) =>
    void response.writeHead(status).end(JSON.stringify(body));

test('names on the board, each with a description', async () => {
  const root = await dataRoot(says(board));
  expect(await askDaemon(root, 'ticket', WAIT_MS)).toEqual([
    { value: 'ABC-1', description: 'implementing, process exited, run-1' },
    { value: 'ABC-2', description: 'Turn?[2J it? off' },
  ]);
  expect(await askDaemon(root, 'run', WAIT_MS)).toContainEqual({ value: 'run-1', description: 'running' });
  expect(await askDaemon(root, 'attention-item', WAIT_MS)).toEqual([
    { value: 'run-1/ABC-1/deploy-timeout', description: 'late' },
  ]);
});

test('archived runs', async () => {
  const paths: (string | undefined)[] = [];
  const root = await dataRoot((request, response) => {
    paths.push(request.url);
    says({ runs: [{ orchestrator: 'run-0', state: 'completed' }] })(request, response);
  });
  expect(await askDaemon(root, 'archived-run', WAIT_MS)).toEqual([
    { value: 'run-0', description: 'completed' },
  ]);
  expect(paths).toEqual(['/api/archive?limit=500']);
});

test.each<[string, RequestListener]>([
  ['another daemon answers on its port', says({ ...board, instanceId: 'another' })],
  ['something else answers on its port', (_, response) => void response.end('<html>')],
  ['it answers something else', says({ instanceId: instance })],
  ['it refuses', says(board, 503)],
  ['it disconnects', (_, response) => void response.writeHead(200).write('{', () => response.destroy())],
  [
    'it says too much',
    (_, response) => void response.end(JSON.stringify({ ...board, more: 'x'.repeat(9 * 1024 * 1024) })),
  ],
])('no names and no error when %s', async (_, answer) => {
  const root = await dataRoot(answer);
  expect(await askDaemon(root, 'ticket', WAIT_MS)).toEqual([]);
});

test.each<[string, RequestListener]>([
  ['it never ends', (_, response) => void response.writeHead(200).write('{')],
  ['it sends nothing', () => {}],
])('no names and no error when %s', async (_, answer) => {
  const root = await dataRoot(answer);
  expect(await askDaemon(root, 'ticket')).toEqual([]);
});

test('a slow daemon gives no names', async () => {
  const limit = vi.spyOn(AbortSignal, 'timeout');
  onTestFinished(() => limit.mockRestore());
  const root = await dataRoot(() => {});
  expect(await askDaemon(root, 'ticket')).toEqual([]);
  expect(limit.mock.calls).toEqual([[300]]);
});

test('no names without a daemon, or when its record outlived it', async () => {
  expect(await askDaemon(temporaryFolder(), 'ticket')).toEqual([]);
  expect(await askDaemon(join(temporaryFolder(), 'nowhere'), 'ticket')).toEqual([]);
  expect(await askDaemon(withRecord(1), 'ticket')).toEqual([]);
});

test('the daemon of this machine is asked, by its settings; an invalid setting is reported', async () => {
  // This test is not about the limit, which a slow machine may reach.
  const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
  onTestFinished(() => limit.mockRestore());
  const root = await dataRoot(says(board));
  const reported: string[] = [];
  const names = (environment: Record<string, string>, home = '/nowhere') =>
    namesHere(environment, home, 'run', (problem) => reported.push(problem));
  expect(await names({ SVC_DATA_DIR: root })).toHaveLength(2);
  expect(reported).toEqual([]);
  expect(await names({ SVC_DATA_DIR: root, SVC_MONITOR_PORT: 'many' })).toEqual([]);
  expect(reported).toEqual([expect.stringContaining('SVC_MONITOR_PORT must be a port number')]);
});
