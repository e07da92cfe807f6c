// The published description is true: it contains every route and no other, and real responses of a real daemon with a
// history match it strictly.
import { createHmac, randomUUID } from 'node:crypto';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { createClient } from '@svc/client';
import {
  answerWithJson,
  codehostExample,
  codehostExamples,
  modelsForTest,
  natsForTest,
  patched,
  startFakeLoki,
  startRecordingServer,
  storyRepo,
  storyTicket,
  temporaryFolder,
  testTerminal,
  testTracker,
  trackerExamples,
  until,
  untilHolds,
} from '@svc/testkit';
import { expect, test } from 'vitest';
import { buildProgram } from '../src/cli/program.ts';
import { runCommandLine } from '../src/cli/run.ts';
import { api } from '../src/features/api.ts';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import { hookTokenFile } from '../src/kernel/access/token-file.ts';
import { openapiDocument } from '../src/kernel/http/openapi.ts';
import { covered, feedWorld } from './feed-world.ts';
import { type InProcessDaemon, startInProcess } from './in-process-daemon.ts';
import {
  expectBodyPublished,
  expectPublished,
  expectSchema,
  operations,
  published,
} from './published-api.ts';
import { registeredRoutes } from './registered-routes.ts';
import { runDoctor } from './run-doctor.ts';
import { machine, relayAt } from './team-world.ts';

const SECRET = 'e'.repeat(64);
const json = { 'Content-Type': 'application/json' };
/** Fires on every pull request. */
const RULE = `{
  "name": "merged",
  "enabled": true,
  "when": { "event": "codehost.pr.*", "filter": ".scope.pr > 0" },
  "then": { "attention": { "message": "look at {ticket}" } }
}`;
/** Operations whose successful response was checked. */
const judged = new Set<string>();

type Asked = {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  headers?: Record<string, string>;
  status?: number;
};

/** Calls a daemon, and checks its response against the published description. */
function asker(daemon: Pick<InProcessDaemon, 'url'>) {
  return async (name: string, { params = {}, query = {}, body, headers, status = 200 }: Asked = {}) => {
    const [method = '', path = ''] = name.split(' ');
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, one: string) => encodeURIComponent(params[one] ?? ''));
    const asked = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query).toString()}`;
    if (method === 'POST' && status === 200) expectBodyPublished(name, body ?? {});
    const request = {
      method,
      ...(method === 'POST' && { body: JSON.stringify(body ?? {}), headers: { ...json, ...headers } }),
    };
    // A run that ends asks a model for its summary: that may be running for a moment.
    const response = await until(async () => {
      const given = await fetch(daemon.url + filled + asked, request);
      return given.status === 429 ? undefined : given;
    });
    const answer = (await response.json()) as Record<string, unknown>;
    expect(response.status, `${name}: ${JSON.stringify(answer)}`).toBe(status);
    expectPublished(name, status, answer);
    if (status === 200) judged.add(name);
    return answer;
  };
}

const protocolAgent = join(import.meta.dirname, '../../testkit/src/agents/protocol-agent.ts');

/** Backends, a tracker and model providers; a project with rules, an agent and a deploy policy. */
async function world() {
  const repository = testRepository(temporaryFolder());
  const { home, folder } = repository;
  const agent = join(home, 'agent.sh');
  writeFileSync(agent, 'exec sleep 600\n');
  const tracker = await testTracker('tracker-token');
  const team = tracker.cloud.addTeam({ key: 'ENG' });
  tracker.cloud.addIssue({ teamId: team.id, title: 'Login', number: Number(storyTicket.split('-')[1]) });
  for (const number of [101, 102, 103])
    tracker.cloud.addIssue({ teamId: team.id, title: `Task ${number}`, number });
  const models = await modelsForTest('model-key');
  const metrics = await startRecordingServer((_request, response) =>
    answerWithJson(response, 200, { status: 'success', data: { resultType: 'vector', result: [] } }),
  );
  const logs = await startFakeLoki([{ labels: { app: 'svc' }, at: Date.now(), line: 'hello' }], Date.now);
  const config = {
    projectKey: 'demo',
    project: { ticketPrefix: 'ENG' },
    tracker: { teamKey: 'ENG', teamId: team.id },
    deploy: { [storyRepo]: { skipDeployVerification: false } },
    orchestration: {
      agent: ['/bin/sh', agent],
      agents: { mine: { command: process.execPath, args: [protocolAgent], mode: 'ask' } },
    },
    ai: { enabled: true, providers: { 'provider-a': { apiKeyEnv: 'MODEL_KEY' } } },
  };
  repository.write(folder, '.svc/config.json', JSON.stringify({ svc: config }));
  const secrets = {
    svc: {
      tracker: { apiToken: 'tracker-token', teamKey: 'ENG' },
      ai: { providers: { 'provider-a': { baseUrl: models.baseUrl('provider-a') } } },
    },
    ai: { gateway: models.baseUrl('gateway'), apiKey: 'model-key' },
  };
  for (const [name, value] of [
    ['config.json', { svc: { projects: [folder], rules: [JSON.parse(RULE)] } }],
    ['config-demo.json', secrets],
  ] as const) {
    repository.write(home, join('.config/svc', name), JSON.stringify(value));
    chmodSync(join(home, '.config/svc', name), 0o600);
  }
  const environment = {
    ...repository.environment,
    SVC_WEBHOOK_SECRET: SECRET,
    SVC_TRACKER_WEBHOOK_SECRET: SECRET,
    SVC_TRACKER_API_URL: tracker.url,
    MODEL_KEY: 'model-key',
    OTEL_ENABLED: 'true',
    PROMETHEUS_URL: metrics.url,
    LOKI_URL: logs.url,
  };
  const daemon = await startInProcess({ home, environment });
  const terminal = { ...testTerminal(), home, folder, environment: { ...environment } };
  const svc = (...words: string[]) => runCommandLine(terminal, words);
  return { home, folder, environment, daemon, svc, terminal, ask: asker(daemon) };
}

/** Every example delivery, signed. */
async function deliverEverything(daemon: InProcessDaemon): Promise<void> {
  // A merge without a deployment, after its worker has started.
  const now = new Date(Date.now() + 60_000).toISOString();
  const merged = patched(codehostExample('pull_request merged'), 'merged', {
    number: 77,
    pull_request: {
      number: 77,
      title: 'ENG-9 Log out',
      head: { ref: 'eng-9-logout', repo: { full_name: storyRepo } },
      merge_commit_sha: 'c'.repeat(40),
      merged_at: now,
      closed_at: now,
    },
  });
  const deliveries = [
    ...[...codehostExamples(), merged].map(({ type, payload }) => {
      const body = JSON.stringify(payload);
      const signature = createHmac('sha256', SECRET).update(body).digest('hex');
      const headers = {
        'x-codehost-event': type,
        'x-codehost-delivery': randomUUID(),
        'x-hub-signature-256': `sha256=${signature}`,
      };
      return { path: '/api/webhook', body, headers };
    }),
    ...trackerExamples().map(({ type, payload }) => {
      const body = JSON.stringify(payload);
      const signature = createHmac('sha256', SECRET).update(body).digest('hex');
      const headers = {
        'tracker-event': type,
        'tracker-delivery': randomUUID(),
        'tracker-signature': signature,
      };
      return { path: '/api/webhook/tracker', body, headers };
    }),
  ];
  expect(deliveries.length).toBeGreaterThan(30);
  for (const { path, body, headers } of deliveries) {
    const answer = await daemon.post(path, body, { ...json, ...headers });
    expectPublished(`POST ${path}`, answer.status, answer.body);
    if (answer.status === 200) judged.add(`POST ${path}`);
  }
  const refused = await daemon.post('/api/webhook', '{}', json);
  expectPublished('POST /api/webhook', refused.status, refused.body);
}

/** A worker's signal file with every field. */
function writeSignal(home: string, ticket: string, more: object): void {
  const file = join(home, 'svc/runs/run-1/workers', `${ticket}.json`);
  const now = new Date().toISOString();
  mkdirSync(dirname(file), { recursive: true });
  const signal = {
    ticket,
    orchestrator: 'run-1',
    workerName: ticket,
    status: 'implementing',
    phase: 1,
    startedAt: now,
    updatedAt: now,
    repo: storyRepo,
    cost: { usd: 1.5, inputTokens: 10 },
    ...more,
  };
  writeFileSync(file, JSON.stringify(signal));
}

test('the registered routes are the published routes, and no others', async () => {
  const registered = (await registeredRoutes()).map(
    ({ method, url }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`,
  );
  // The receivers run before the server's routes. The pages of the dashboard are not part of the API: what is
  // neither a route nor a receiver is answered with a file.
  const receivers = ['POST /api/webhook', 'POST /api/webhook/tracker'];
  expect([...registered, ...receivers].toSorted()).toEqual([...operations.keys()].toSorted());
});

test('the daemon serves the published description, with its own version', async () => {
  const daemon = await startInProcess();
  const { body } = await daemon.get('/openapi.json');
  expectPublished('GET /openapi.json', 200, body);
  judged.add('GET /openapi.json');
  expect(body).toEqual(openapiDocument({ version: '1.2.3', api }));
  expect(body['paths']).toEqual(published.paths);
});

test('every verb declares the routes it calls, as the description does', async () => {
  const said = new Map<string, Set<string>>();
  const everyVerb = (command: CommandUnknownOpts, path: string[] = []): string[][] =>
    command.commands.flatMap((child) => [
      [...path, child.name()],
      ...everyVerb(child, [...path, child.name()]),
    ]);
  for (const path of everyVerb(await buildProgram(testTerminal()))) {
    const terminal = testTerminal();
    await runCommandLine(terminal, [...path, '--help']);
    const [, line = ''] = /^Route: (.+(?:\n {2,}.+)*)$/m.exec(terminal.printed()) ?? [];
    for (const [, method = '', url = ''] of line.matchAll(/(GET|POST) (\/[\w/:-]+)/g)) {
      const name = `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`;
      said.set(name, (said.get(name) ?? new Set()).add(`svc ${path.join(' ')}`));
    }
  }
  const described = Object.values(api).flatMap((route) =>
    'verbs' in route ? [[`${route.method} ${route.path}`, [...route.verbs].toSorted()] as const] : [],
  );
  expect(Object.fromEntries(described)).toEqual(
    Object.fromEntries([...said].map(([name, verbs]) => [name, [...verbs].toSorted()])),
  );
});

test('real responses of a daemon with a history match the description', async () => {
  const { home, folder, environment, daemon, svc, terminal, ask } = await world();
  await deliverEverything(daemon);
  writeSignal(home, storyTicket, { status: 'merging', pr: { number: 42 } });
  writeSignal(home, 'ENG-7', { status: 'failed', error: 'it broke', pid: 1 });
  writeSignal(home, 'ENG-9', { status: 'merging', pr: { number: 77 } });
  writeFileSync(join(home, 'svc/runs/run-1/workers', 'ENG-8.json'), 'not json');
  for (const [event, detail, scope] of [
    ['orchestrator.run.started', {}, { orchestrator: 'run-0' }],
    ['orchestrator.run.completed', {}, { orchestrator: 'run-0' }],
    [
      'comms.attention',
      { reason: 'worker-dead', message: 'gone', severity: 'high' },
      { ticket: 'ENG-7', orchestrator: 'run-1' },
    ],
    [
      'orchestrator.verification.failed',
      { summary: 'red', findings: ['a'] },
      { ticket: storyTicket, orchestrator: 'run-1' },
    ],
  ] as const)
    await ask('POST /api/events', { body: { event, detail, scope } });
  await ask('POST /api/events', { body: { event: 'codehost.push' }, status: 400 });
  const again = { event: 'orchestrator.run.started', deliveryId: 'once', scope: { orchestrator: 'run-0' } };
  await ask('POST /api/events', { body: again });
  expect(await ask('POST /api/events', { body: again })).toMatchObject({ duplicate: true });
  await until(async () => {
    const { workers } = await ask('GET /api/board', { query: { all: '1' } });
    return (workers as unknown[]).length >= 3;
  });

  const { seq, instanceId } = await ask('GET /api/board/changes');
  await ask('GET /api/board/changes', { query: { after: String(seq), instanceId: String(instanceId) } });
  for (const query of [{}, { at: '1h' }, { at: '20' }, { settled: '1h' }])
    await ask('GET /api/board', { query });
  await ask('GET /api/board', { query: { at: 'yesterday' }, status: 400 });
  for (const query of [{}, { limit: '1000', order: 'oldest-first' }, { filter: '.scope.pr > 0' }])
    await ask('GET /api/events', { query });
  await ask('GET /api/events', { query: { filter: '.[' }, status: 400 });
  await ask('GET /api/events/counts', { query: { since: '1d', buckets: '3' } });
  await ask('POST /api/events/reindex');

  const id = 'run-1/ENG-7/worker-dead';
  await ask('GET /api/attention');
  await ask('POST /api/attention/ack', { body: { id, by: 'kim' } });
  await ask('POST /api/attention/hand-over', { body: { id, to: 'alex', note: 'yours' } });
  await ask('POST /api/attention/snooze', { body: { id, for: '2h' } });
  await ask('GET /api/attention');
  await ask('POST /api/attention/undo', { body: { id } });
  await ask('POST /api/attention/undo', { body: { id }, status: 409 });
  await ask('POST /api/attention/resolve', { body: { id } });
  await ask('POST /api/attention/resolve', { body: { id }, status: 404 });

  for (const ticket of [storyTicket, 'ENG-7', 'ENG-8']) {
    for (const what of ['why', 'receipt', 'trace'])
      await ask(`GET /api/workers/{ticket}/${what}`, { params: { ticket } });
  }
  await ask('GET /api/workers/{ticket}/why', { params: { ticket: 'NONE-1' }, status: 404 });
  const output = join(daemon.machine.runsDir, 'run-1/workers/output');
  mkdirSync(output, { recursive: true });
  const message = { type: 'assistant', message: { content: [{ type: 'text', text: 'hello' }] } };
  appendFileSync(join(output, 'ENG-7-stream.jsonl'), `${JSON.stringify(message)}\nnot json\n`);
  await ask('GET /api/workers/{ticket}/output', { params: { ticket: 'ENG-7' }, query: { limit: '5' } });
  await ask('POST /api/workers/{ticket}/deploy', {
    params: { ticket: 'ENG-9' },
    body: { action: 'accept', by: 'kim' },
  });
  await ask('GET /api/deploy/policy', {});
  await ask('GET /api/deploy/policy', { query: { repo: 'acme' }, status: 400 });
  const policy = { repo: storyRepo, by: 'kim' };
  await ask('POST /api/deploy/policy/relax', { body: policy, status: 409 });
  const file = join(folder, '.svc/config.json');
  const settings = readFileSync(file, 'utf8');
  // The file no longer states it, so a person may relax it.
  writeFileSync(file, JSON.stringify({ svc: { ...JSON.parse(settings).svc, deploy: {} } }));
  await untilHolds(async () => void (await ask('POST /api/deploy/policy/relax', { body: policy })));
  writeFileSync(file, settings);
  await ask('POST /api/workers/{ticket}/deploy', {
    params: { ticket: 'ENG-7' },
    body: { action: 'retry' },
    status: 409,
  });

  await ask('POST /api/tickets/{ticket}/phase', {
    params: { ticket: storyTicket },
    body: { phase: 'inReview' },
  });
  await ask('POST /api/tickets/{ticket}/phase', {
    params: { ticket: storyTicket },
    body: { phase: 'nap' },
    status: 400,
  });

  await ask('POST /api/runs', {
    body: { project: folder, waves: [['ENG-101'], ['ENG-102']], name: 'run-2', maxParallel: 1, by: 'kim' },
  });
  await ask('POST /api/runs', { body: { project: folder }, status: 400 });
  const run = { run: 'run-2' };
  await ask('GET /api/runs');
  await ask('POST /api/runs/{run}/pause', { params: run });
  await ask('GET /api/runs/{run}', { params: run });
  await ask('POST /api/runs/{run}/resume', { params: run, body: { by: 'kim' } });
  await ask('POST /api/runs/{run}/cancel', { params: run, body: { ticket: 'ENG-101' } });
  await until(async () => {
    const response = await daemon.post('/api/runs/run-2/retry', JSON.stringify({ ticket: 'ENG-101' }), json);
    expectPublished('POST /api/runs/{run}/retry', response.status, response.body);
    return response.status === 200 && judged.add('POST /api/runs/{run}/retry') !== undefined;
  });
  await ask('POST /api/runs/{run}/cancel', { params: run });
  await until(async () => {
    const { runs } = await ask('GET /api/health');
    return (runs as { agents: number }).agents === 0;
  });
  const report = { agent: 'claude', event: 'Stop', session: 's-1', folder, at: 1 };
  await ask('POST /api/hooks/report', { body: report, status: 401 });
  writeFileSync(hookTokenFile(daemon.machine.dataDir), 'hook', { mode: 0o600 });
  const headers = { 'X-Svc-Hook-Token': 'hook' };
  await ask('POST /api/hooks/report', { body: report, headers });
  const wanted = { agent: 'claude', session: 's-1', tool: 'Bash', call: 'x' };
  const asking = { ...report, ...wanted, event: 'PermissionRequest', at: 2 };
  await ask('POST /api/hooks/report', { body: asking, headers });
  await ask('POST /api/hooks/ask', { body: { ...wanted, input: '{}' }, status: 401 });
  const answered = ask('POST /api/hooks/ask', { body: { ...wanted, input: '{}' }, headers });
  const request = await until(async () => {
    const { sessions } = (await ask('GET /api/board')) as { sessions: { open: { request: string }[] }[] };
    return sessions[0]?.open[0]?.request;
  });
  const given = { session: 'claude/s-1', request, answer: 'reject_once' };
  await ask('POST /api/sessions/answer', { body: given });
  expect(await answered).toEqual({ answer: 'reject_once' });
  await ask('POST /api/sessions/answer', { body: given, status: 409 });
  await ask('GET /api/agents', { query: { project: folder } });
  await ask('POST /api/agents/check', { body: { project: folder, name: 'mine' } });
  await ask('POST /api/agents/check', { body: { project: folder, name: 'none' }, status: 400 });
  await ask('POST /api/runs', {
    body: { project: folder, tickets: ['ENG-103'], name: 'run-3', agents: { 'ENG-103': 'mine' } },
  });
  const ofAgent = { params: { ticket: 'ENG-103' } };
  await ask('GET /api/tickets/{ticket}', ofAgent);
  await ask('GET /api/tickets/{ticket}', { params: { ticket: 'ENG-999' }, status: 404 });
  await ask('POST /api/runs/preflight', { body: { project: folder, tickets: ['ENG-999'] } });
  await ask('POST /api/tasks', { body: { project: folder, text: 'Add the login form', local: true } });
  const untilState = (state: string) =>
    until(async () => {
      const response = await daemon.get('/api/workers/ENG-103/agent');
      const { agent } = response.body as { agent?: { state: string; open: { request: string }[] } | null };
      return agent?.state === state ? agent : undefined;
    });
  await untilState('idle');
  await ask('GET /api/workers/{ticket}/changes', ofAgent);
  await ask('POST /api/workers/{ticket}/agent/message', { ...ofAgent, body: { text: 'ask' } });
  const { open } = await untilState('needs-permission');
  await ask('GET /api/workers/{ticket}/agent', ofAgent);
  await ask('POST /api/workers/{ticket}/agent/answer', {
    ...ofAgent,
    body: { request: open[0]?.request, answer: 'reject_once' },
  });
  await ask('GET /api/workers/{ticket}/agent/options', ofAgent);
  const toAsk = { setting: 'mode', value: 'ask' };
  await ask('POST /api/workers/{ticket}/agent/options', { ...ofAgent, body: toAsk });
  const toAuto = { setting: 'mode', value: 'auto' };
  await ask('POST /api/workers/{ticket}/agent/options', { ...ofAgent, body: toAuto, status: 400 });
  await ask('GET /api/workers/{ticket}/files', { ...ofAgent, query: { query: 'read' } });
  await ask('POST /api/workers/{ticket}/agent/stop', ofAgent);
  await ask('POST /api/runs/{run}/cancel', { params: { run: 'run-3' } });

  await ask('POST /api/runs/{run}/pause', { params: run, status: 409 });
  await ask('GET /api/runs/{run}', { params: { run: 'nobody' }, status: 404 });
  await ask('GET /api/board', { query: { all: '1' } });

  const { rules } = await ask('GET /api/rules');
  expect(rules).toMatchObject([{ name: 'merged', fired: expect.any(Number) }]);
  expect(await ask('POST /api/rules/test', { body: { since: '1d' } })).toMatchObject({
    rules: [{ name: 'merged' }],
  });
  await ask('POST /api/rules/test', { body: { name: 'nobody' }, status: 404 });

  const { code } = await ask('POST /api/access/code');
  await ask('POST /api/access/key', { body: { code: String(code) } });
  await ask('POST /api/access/key', { body: { code: String(code) }, status: 401 });

  await ask('POST /api/outbox/retry', { body: { key: 'nothing' }, status: 404 });
  await until(async () => {
    const { effects } = await ask('GET /api/outbox');
    const lost = (effects as { key: string; state: string }[]).find(({ state }) => state === 'given-up');
    if (lost !== undefined) await ask('POST /api/outbox/retry', { body: { key: lost.key } });
    return lost !== undefined;
  });

  await ask('POST /api/summarize', { body: { orchId: 'run-1' } });
  await ask('POST /api/summarize', { body: { orchId: 'nobody' }, status: 404 });
  await ask('GET /api/briefing');
  await ask('POST /api/briefing');
  await ask('GET /api/briefing');

  await ask('GET /api/otel/status');
  await ask('GET /api/otel/query', { query: { query: 'up' } });
  await ask('POST /api/otel/query', { body: { query: 'up', start: 0, end: 60, step: '15s' } });
  await ask('GET /api/otel/logs', { query: { query: '{app="svc"}', limit: '5' } });
  await ask('POST /api/otel/logs', { body: { query: '{app="svc"}', direction: 'forward' } });
  await ask('GET /api/otel/query', { query: { query: 'up', step: 'x' }, status: 400 });
  await ask('GET /api/figures');

  await ask('GET /api/projects');
  await ask('GET /api/config');
  await ask('GET /api/config', { query: { project: 'nobody' }, status: 404 });
  expect(await svc('archive', 'sweep'), terminal.complained()).toBe(0);
  await ask('GET /api/archive');
  await ask('GET /api/archive/{run}', { params: { run: 'run-2' } });

  await ask('GET /api/retention');
  await ask('POST /api/retention', { body: { by: 'kim' } });

  await ask('POST /api/doctor', { body: { by: 'kim' } });
  await ask('POST /api/doctor/run', { status: 501 });
  // The route returns what this prints.
  const { printed } = await runDoctor({ home, environment, folder }, '--json');
  expectPublished('POST /api/doctor/run', 200, JSON.parse(printed));
  judged.add('POST /api/doctor/run');
  await ask('GET /api/health');
  await ask('GET /api/health');
});

test('a daemon with feeds, live and repaired', async () => {
  const one = await feedWorld();
  const daemon = await one.start();
  const ask = asker(daemon);
  await ask('GET /api/feeds');
  await until(() => covered(daemon));
  await ask('GET /api/feeds');
  await ask('POST /api/feeds/check', { body: { since: '1d', repair: true } });
  await ask('POST /api/feeds/check', { body: { since: 'always' }, status: 400 });
  await until(async () => {
    const { feeds } = await ask('POST /api/feeds/ping', { body: { timeout: '5s' } });
    return (feeds as { ok: boolean }[]).some(({ ok }) => ok);
  });
  expect(await ask('GET /api/health')).toMatchObject({ sources: { repos: [{ by: 'webhook' }] } });
  await ask('GET /api/figures');
});

test('without AI configured the route reports that, in the one shape without a code', async () => {
  const daemon = await startInProcess();
  const ask = asker(daemon);
  const answer = await ask('POST /api/summarize', { body: { orchId: 'run-1' }, status: 503 });
  expect(answer).toEqual({ error: 'AI not configured' });
  await ask('GET /api/otel/query', { query: { query: 'up' }, status: 503 });
  await ask('GET /api/otel/status');
  await ask('GET /api/health');
});

test('the client follows the stream of a daemon; its events match the description', async () => {
  const daemon = await startInProcess();
  const client = createClient(daemon.url);
  const lines = client.follow({ query: { event: 'orchestrator.*', since: '0' } });
  const scope = { orchestrator: 'run-1' };
  await client.post('/api/events', { body: { event: 'orchestrator.run.started', scope } });
  await client.post('/api/events', { body: { event: 'orchestrator.run.completed', scope } });
  for (const event of ['orchestrator.run.started', 'orchestrator.run.completed']) {
    const { value } = await lines.next();
    expectSchema('EventLine', value);
    expect(value).toMatchObject({ event, scope });
  }
  await lines.return();
  expect(await client.get('/metrics')).toContain('svc_build_info');
  const failure = client.get('/api/runs/{run}', { params: { run: 'nobody' } });
  await expect(failure).rejects.toMatchObject({
    status: 404,
    code: 'unknown-run',
    remedy: expect.any(String),
  });
});

test('an undescribed field is refused, wherever fields are described', async () => {
  const daemon = await startInProcess();
  // What is switched off reports that first, and so does a missing token.
  const isOff = (path: string) => /^\/api\/(?:otel\/(?:query|logs)|summarize|webhook|hooks)/.test(path);
  const refused: string[] = [];
  for (const route of Object.values(api)) {
    if (isOff(route.path)) continue;
    const url = route.path.replaceAll(/\{\w+\}/g, 'ENG-1');
    if ('query' in route) {
      const { status, body } = await daemon.get(`${url}?nothing=1`);
      if (status !== 400 || body['code'] !== 'usage') refused.push(`${route.path}: ${status}`);
    }
    if ('body' in route) {
      const { status } = await daemon.post(url, '{"nothing":1}', json);
      if (status !== 400) refused.push(`${route.path}: ${status}`);
    }
  }
  expect(refused).toEqual([]);
});

test('the routes of a team', async () => {
  const nats = await natsForTest();
  const relay = await relayAt(nats.url);
  const [one, two] = [await machine('one'), await machine('two')];
  const [first, second] = [asker(one.daemon()), asker(two.daemon())];
  const who = (name: string) => ({ person: name, machine: name });
  await first('GET /api/team');
  await first('GET /api/team/board', { status: 409 });
  await first('POST /api/team/create', { body: { relay: relay.url, name: 'web', ...who('one') } });
  const { invitation } = await first('POST /api/team/invite', { body: {} });
  expect(invitation).toContain(relay.url);
  await second('POST /api/team/join', { body: { invitation: String(invitation), ...who('two') } });
  await second('GET /api/team');
  await second('GET /api/team/board');
  const command = { verb: 'hand-over', item: 'run-1/ABC-1/stuck', to: 'one' };
  await second('POST /api/team/commands', { body: { machine: 'one', command } });
  await second('GET /api/team/commands');
  await first('POST /api/team/remove', { body: { machine: 'two' } });
  await first('POST /api/team/leave', { body: {} });
});

test('every operation was checked with a successful response', () => {
  // Not JSON: two streams, and text for a metrics backend.
  const exempt = ['GET /api/events/stream', 'GET /api/workers/{ticket}/agent/stream', 'GET /metrics'];
  expect([...operations.keys()].filter((name) => !judged.has(name)).toSorted()).toEqual(exempt.toSorted());
});
