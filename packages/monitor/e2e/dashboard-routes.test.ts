// The dashboard's requests to a whole daemon: its own files, the board's changes, traces, output, configuration,
// archive and figures; and the verbs with the same results.
import { createHmac } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codehostExample, temporaryFolder, testTerminal, until } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import type { BoardChanges } from '../src/features/board/api.ts';
import type { ConfigReport } from '../src/features/configuration/api.ts';
import type { Figures } from '../src/features/health/api.ts';
import type { WorkerOutput } from '../src/features/workers/api.ts';
import { type InProcessDaemon, startInProcess } from './in-process-daemon.ts';

const secret = 's'.repeat(40);
const json = { 'Content-Type': 'application/json' };

async function get<Answer>(daemon: InProcessDaemon, path: string): Promise<Answer> {
  const { status, body } = await daemon.get(path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Answer;
}

function report(daemon: InProcessDaemon, event: string, detail: object, scope: object) {
  return daemon.post('/api/events', JSON.stringify({ event, detail, scope }), json);
}

const worker = { orchestrator: 'run-1', ticket: 'ENG-1' };
const moved = (daemon: InProcessDaemon, to: string) =>
  report(daemon, 'orchestrator.worker.status_changed', { to, signal: signal(to) }, worker);
const signal = (status: string) => ({
  ...worker,
  workerName: 'ENG-1',
  status,
  phase: 1,
  startedAt: '2026-01-02T09:00:00Z',
  updatedAt: '2026-01-02T09:00:00Z',
  repo: 'acme/web',
});

function deliver(daemon: InProcessDaemon, id: string) {
  const body = JSON.stringify(codehostExample('pull_request merged').payload);
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return daemon.post('/api/webhook', body, {
    'X-Codehost-Event': 'pull_request',
    'X-Codehost-Delivery': id,
    'X-Hub-Signature-256': `sha256=${signature}`,
  });
}

function cli(home: string) {
  const terminal = {
    ...testTerminal({ environment: { SVC_DATA_DIR: join(home, 'svc') } }),
    folder: home,
    home,
  };
  return { terminal, svc: (...words: string[]) => runCommandLine(terminal, words) };
}

test('the page, or how to build it; never for unknown paths under /api', async () => {
  const daemon = await startInProcess();
  for (const path of ['/', '/tickets/run-1/ENG-1']) {
    const response = await fetch(daemon.url + path);
    expect([200, 503]).toContain(response.status);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self';");
  }
  expect((await daemon.get('/api/tickets/run-1/ENG-1')).status).toBe(404);
  expect((await fetch(`${daemon.url}/metrics`)).headers.get('content-type')).toContain('text/plain');
});

test('an event arrives as a change, once', async () => {
  const daemon = await startInProcess();
  await moved(daemon, 'planning');
  const first = await get<BoardChanges & { instanceId: string }>(daemon, '/api/board/changes');
  expect(first).toMatchObject({ full: true, workers: [{ key: 'run-1/ENG-1', status: 'planning' }] });
  const { body } = await moved(daemon, 'implementing');
  const query = `after=${first.seq}&instanceId=${first.instanceId}&atLeast=${String(body['seq'])}`;
  const next = await get<BoardChanges>(daemon, `/api/board/changes?${query}`);
  expect(next).toMatchObject({ full: false, workers: [{ key: 'run-1/ENG-1', status: 'implementing' }] });
  const last = await get<BoardChanges>(
    daemon,
    `/api/board/changes?after=${next.seq}&instanceId=${first.instanceId}`,
  );
  expect(last).toMatchObject({ full: false, workers: [] });
  expect(
    (await get<BoardChanges>(daemon, `/api/board/changes?after=${next.seq}&instanceId=other`)).full,
  ).toBe(true);
});

test('the trace of a ticket, as JSON and as bars', async () => {
  const daemon = await startInProcess();
  await moved(daemon, 'planning');
  await moved(daemon, 'implementing');
  await report(
    daemon,
    'comms.attention',
    { reason: 'worker-dead', message: 'gone', severity: 'high' },
    worker,
  );
  const trace = await get<{ spans: { kind: string; label: string; state: string }[]; axis: unknown[] }>(
    daemon,
    '/api/workers/eng-1/trace',
  );
  expect(trace).toMatchObject({ ticket: 'ENG-1', orchestrator: 'run-1', cut: false });
  expect(trace.spans.map(({ kind, label, state }) => [kind, label, state])).toEqual([
    ['phase', 'planning', 'ended'],
    ['phase', 'implementing', 'running'],
    ['wait', 'Needs a person: worker-dead', 'running'],
  ]);
  expect(trace.axis).not.toEqual([]);
  expect((await daemon.get('/api/workers/NONE-1/trace')).body).toMatchObject({ code: 'unknown-ticket' });
  expect((await daemon.get('/api/workers/..%2Fx/trace')).status).toBe(400);
  const { terminal, svc } = cli(daemon.home);
  expect(await svc('trace', 'ENG-1')).toBe(0);
  expect(terminal.printed()).toMatch(/▶ +Implementing .* in progress/);
  expect(terminal.printed()).toContain('Needs you: Agent process exited');
  expect(await svc('trace', 'NONE-1')).toBe(1);
});

describe('the output of a worker', () => {
  test('the newest lines, then those that follow, then the verb', async () => {
    const daemon = await startInProcess();
    await moved(daemon, 'implementing');
    expect(await get<WorkerOutput>(daemon, '/api/workers/ENG-1/output')).toMatchObject({
      exists: false,
      lines: [],
    });
    const { terminal, svc } = cli(daemon.home);
    expect(await svc('worker', 'output', 'ENG-1')).toBe(1);
    const folder = join(daemon.machine.runsDir, 'run-1', 'workers', 'output');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'ENG-1-stream.jsonl');
    const append = (text: string) =>
      appendFileSync(
        file,
        `${JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text }] } })}\n`,
      );
    append('one');
    append('two');
    const first = await get<WorkerOutput>(daemon, '/api/workers/ENG-1/output?limit=1');
    expect(first).toMatchObject({ exists: true, lines: [{ kind: 'text', text: 'two', cut: false }] });
    append('three');
    expect(
      await get<WorkerOutput>(daemon, `/api/workers/ENG-1/output?orchestrator=run-1&after=${first.to}`),
    ).toMatchObject({ from: first.to, lines: [{ text: 'three' }] });
    expect(await svc('worker', 'output', 'ENG-1', '--limit', '2')).toBe(0);
    expect(terminal.printed()).toBe('two\nthree');
  });

  test.each([
    ['NONE-1/output', 404],
    ['ENG-1/output?orchestrator=..', 400],
    ['ENG-1/output?orchestrator=a%2Fb', 400],
    ['..%2f..%2fx/output', 400],
    ['ENG-1/output?after=-1', 400],
    ['ENG-1/output?limit=5000', 400],
  ])('%s', async (path, status) => {
    const daemon = await startInProcess();
    expect((await daemon.get(`/api/workers/${path}`)).status).toBe(status);
  });
});

test('every key of the configuration of a served project; secrets are masked', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, '.svc'));
  writeFileSync(join(home, '.svc', 'config.json'), '{"svc":{"projectKey":"shop","project":{"name":"Shop"}}}');
  mkdirSync(join(home, '.config', 'svc'), { recursive: true });
  writeFileSync(
    join(home, '.config', 'svc', 'config-shop.json'),
    JSON.stringify({
      svc: { tracker: { apiToken: 'very-secret', teamKey: 'SHO' } },
      otel: { prometheusUrl: 'http://ada:very-secret@127.0.0.1:9' },
    }),
  );
  const channel = 'http://127.0.0.1:9/very-secret';
  writeFileSync(
    join(home, '.config', 'svc', 'config.json'),
    JSON.stringify({
      svc: {
        monitor: { github: { smeeChannel: channel }, linear: { smeeChannel: channel, webhookUrl: channel } },
        notify: { webhook: { url: channel }, ntfy: { url: channel } },
      },
    }),
  );
  const daemon = await startInProcess({ home, environment: { SVC_WEBHOOK_SECRET: secret } });
  expect(await get(daemon, '/api/projects')).toMatchObject({
    projects: [{ id: 'shop', key: 'shop', name: 'Shop', folder: home }],
  });
  for (const path of ['/api/config', '/api/config?project=shop']) {
    const config = await get<ConfigReport>(daemon, path);
    expect(config.project).toBe('shop');
    expect(config.files.project).toBe(join(home, '.svc', 'config.json'));
    expect(config.values.find(({ key }) => key === 'svc.tracker.apiToken')).toMatchObject({
      value: '********',
      isSet: true,
      isSecret: true,
    });
    expect(config.machine.map(({ variable }) => variable)).toContain('SVC_DATA_DIR');
    expect(JSON.stringify(config)).not.toContain('very-secret');
    // The variable that stands for the channel elsewhere.
    const { tunnels } = await get<{ tunnels: { channel: string }[] }>(daemon, '/api/feeds');
    expect(config.values.find(({ key }) => key === 'svc.monitor.github.smeeChannel')?.value).toBe(
      `http://127.0.0.1:9/******** (fingerprint ${tunnels[0]?.channel})`,
    );
  }
  for (const path of ['/api/health', '/api/feeds', '/api/otel/status', '/metrics', '/api/projects'])
    expect(await (await fetch(daemon.url + path)).text()).not.toContain('very-secret');
  for (const project of ['/etc', '../..', 'other'])
    expect((await daemon.get(`/api/config?project=${encodeURIComponent(project)}`)).body).toMatchObject({
      code: 'unknown-project',
    });
  // As the daemon uses them: a changed file is applied without a restart.
  writeFileSync(
    join(home, '.svc', 'config.json'),
    '{"svc":{"projectKey":"shop","project":{"name":"Store"}}}',
  );
  await until(async () => {
    const { values } = await get<ConfigReport>(daemon, '/api/config');
    return values.find(({ key }) => key === 'svc.project.name')?.value === 'Store';
  });
});

test('archived runs, page by page, and the manifest of one', async () => {
  const daemon = await startInProcess();
  expect(await get(daemon, '/api/archive')).toEqual({
    root: join(daemon.home, 'svc', 'archives'),
    runs: [],
    next: null,
    unindexed: 0,
  });
  for (const run of ['run-1', 'run-2', 'run-3']) {
    mkdirSync(join(daemon.machine.runsDir, run, 'workers'), { recursive: true });
    writeFileSync(join(daemon.machine.runsDir, run, 'SUMMARY.md'), `# ${run}`);
    await report(daemon, 'orchestrator.run.started', {}, { orchestrator: run });
    await report(daemon, 'orchestrator.run.completed', {}, { orchestrator: run });
  }
  const { terminal, svc } = cli(daemon.home);
  expect(await svc('archive', 'sweep'), terminal.complained()).toBe(0);
  const first = await get<{ runs: { orchestrator: string }[]; next: string }>(daemon, '/api/archive?limit=2');
  expect(first).toMatchObject({
    runs: [{ orchestrator: 'run-1', state: 'completed' }, { orchestrator: 'run-2' }],
  });
  expect(await get(daemon, `/api/archive?limit=2&after=${first.next}`)).toMatchObject({
    runs: [{ orchestrator: 'run-3' }],
    next: null,
  });
  expect(await get(daemon, '/api/archive?state=canceled')).toMatchObject({ runs: [] });
  expect(await get(daemon, '/api/archive/run-2')).toMatchObject({ orchestrator: 'run-2', version: 1 });
  expect((await daemon.get('/api/archive/run-9')).body).toMatchObject({ code: 'unknown-run' });
  for (const path of ['/api/archive/..%2f..%2fetc', '/api/archive?state=gone', '/api/archive?limit=0'])
    expect((await daemon.get(path)).status).toBe(400);
});

test('figures: deliveries, commits, calls', async () => {
  const daemon = await startInProcess({ environment: { SVC_WEBHOOK_SECRET: secret } });
  expect(await get<Figures>(daemon, '/api/figures')).toMatchObject({
    deliveries: { count: 0, p50Ms: null },
    codehost: { calls: 0, avoided: 0, quotas: {} },
  });
  for (const id of ['one', 'two', 'three']) expect((await deliver(daemon, id)).status).toBe(200);
  await daemon.post('/api/webhook', '{}');
  const { deliveries, commits, lines } = await get<Figures>(daemon, '/api/figures');
  expect(deliveries).toMatchObject({ count: 3, sampled: 3 });
  expect(deliveries.p50Ms).toBeGreaterThan(0);
  expect(deliveries.p99Ms).toBeGreaterThanOrEqual(deliveries.p50Ms ?? 0);
  expect(commits.count).toBeGreaterThan(0);
  expect(lines).toBeGreaterThanOrEqual(4);
  const { terminal, svc } = cli(daemon.home);
  expect(await svc('telemetry', 'figures')).toBe(0);
  expect(terminal.printed()).toMatch(/^deliveries {2}3; of the last 3: p50 [\d.]+ ms, p99 [\d.]+ ms$/m);
});

test('an item is handed over, and stays so across a restart', async () => {
  const home = temporaryFolder();
  const before = await startInProcess({ home });
  await report(
    before,
    'comms.attention',
    { reason: 'worker-dead', message: 'gone', severity: 'high' },
    worker,
  );
  const id = 'run-1/ENG-1/worker-dead';
  await expect.poll(async () => (await before.get('/api/attention')).body['open']).toHaveLength(1);
  const { svc } = cli(home);
  expect(await svc('attention', 'hand-over', id, '--to', 'alex')).toBe(0);
  await before.close();
  const after = await startInProcess({ home });
  await expect
    .poll(async () => (await after.get('/api/attention')).body)
    .toMatchObject({ open: [{ id, handedOver: { to: 'alex' } }] });
});

test('past events by jq, and their count', async () => {
  const daemon = await startInProcess();
  for (const to of ['planning', 'implementing', 'validating']) await moved(daemon, to);
  const { terminal, svc } = cli(daemon.home);
  expect(await svc('events', 'list', '--json', '--filter', '.detail.to == "implementing"')).toBe(0);
  expect(terminal.printed().split('\n')).toHaveLength(1);
  expect(await svc('events', 'list', '--filter', '.detail.to ==')).toBe(2);
  expect(await svc('events', 'counts', '--ticket', 'ENG-1', '--buckets', '1')).toBe(0);
  expect(terminal.printed()).toContain('orchestrator 3');
  await daemon.close();
  expect(await svc('events', 'list', '--json', '--filter', '.detail.to == "planning"')).toBe(0);
});
