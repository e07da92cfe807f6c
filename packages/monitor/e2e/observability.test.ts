// The proxies against a real Prometheus and a server with Loki's API, the example files, the documented
// metrics: all through a whole daemon.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  answerWithJson,
  portForPrometheus,
  promtoolComplaint,
  startFakeLoki,
  startPrometheus,
  startRecordingServer,
  temporaryFolder,
  untilHolds,
} from '@svc/testkit';
import { expect, test } from 'vitest';
import { logsPanels } from '../../dashboard/src/screens/telemetry/agent-queries.ts';
import { type InProcessDaemon, startInProcess } from './in-process-daemon.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const example = (name: string): string => join(root, 'examples', 'observability', name);
const read = (path: string): string => readFileSync(path, 'utf8');
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const json = { 'Content-Type': 'application/json' };
const secret = 'x'.repeat(64);

type Sample = { metric: Record<string, string>; value?: [number, string]; values?: [number, string][] };
const resultOf = (body: Record<string, unknown>): Sample[] => (body['data'] as { result: Sample[] }).result;

function query(daemon: InProcessDaemon, route: string, given: Record<string, string>) {
  return daemon.get(`${route}?${new URLSearchParams(given).toString()}`);
}

/** The type of each metric, by name. */
async function exposedBy(daemon: InProcessDaemon): Promise<Map<string, string>> {
  const text = await (await fetch(`${daemon.url}/metrics`)).text();
  return new Map(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
}

function panels(): { title: string; targets: { expr: string }[] }[] {
  return JSON.parse(read(example('grafana-dashboard.json'))).panels;
}

const rules = (): string[] =>
  [...read(example('alerts.yml')).matchAll(/^ +expr: (.+)$/gm)].map(([, expr = '']) => expr);

test('a real Prometheus scrapes the daemon and is queried through it, and knows the rules and every panel', async () => {
  const port = await portForPrometheus();
  const daemon = await startInProcess({
    environment: {
      OTEL_ENABLED: 'true',
      PROMETHEUS_URL: `http://127.0.0.1:${port}/`,
      SVC_WEBHOOK_SECRET: secret,
    },
  });
  await daemon.post('/api/webhook', '{}', { 'X-Hub-Signature-256': 'sha256=00' });
  expect(await query(daemon, '/api/otel/query', { query: 'up' })).toMatchObject({
    status: 502,
    body: { code: 'backend-failed', error: expect.stringContaining('cannot be reached') },
  });
  expect((await daemon.get('/api/otel/status')).body).toMatchObject({ metrics: { state: 'degraded' } });

  await startPrometheus({
    port,
    configuration: read(example('prometheus.yml'))
      .replaceAll('15s', '1s')
      .replace('127.0.0.1:7400', `127.0.0.1:${daemon.port}`)
      .replace('alerts.yml', example('alerts.yml')),
  });
  await expect
    .poll(
      async () =>
        resultOf((await query(daemon, '/api/otel/query', { query: 'svc_log_last_seq' })).body).length,
    )
    .toBe(1);
  expect((await daemon.get('/api/otel/status')).body).toMatchObject({
    metrics: { state: 'live', why: null, url: `http://127.0.0.1:${port}` },
    logs: { state: 'disabled', why: 'otel.lokiUrl is not set' },
  });

  // Instant and range, by GET, by POST with a form and by POST with JSON. A scrape that took too long leaves a gap
  // until the next one.
  const refused = { query: 'svc_deliveries_total{outcome="bad-signature"}' };
  const posted = new URLSearchParams(refused).toString();
  for (const ask of [
    () => query(daemon, '/api/otel/query', refused),
    () => daemon.post('/api/otel/query', posted, form),
    () => daemon.post('/api/otel/query', JSON.stringify(refused), json),
  ])
    await untilHolds(async () => {
      const { status, body } = await ask();
      expect([status, body['status']]).toEqual([200, 'success']);
      expect(resultOf(body)[0]).toMatchObject({
        metric: { feed: 'codehost', job: 'svc' },
        value: [expect.any(Number), '1'],
      });
    });
  const range = () => {
    const end = Date.now() / 1000;
    return { query: 'up{job="svc"}', start: String(end - 60), end: String(end), step: '1s' };
  };
  for (const ask of [
    () => query(daemon, '/api/otel/query', range()),
    () => daemon.post('/api/otel/query', new URLSearchParams(range()).toString(), form),
    () => daemon.post('/api/otel/query', JSON.stringify({ ...range(), step: 1 }), json),
  ])
    await untilHolds(async () => {
      const { status, body } = await ask();
      expect([status, (body['data'] as { resultType: string }).resultType]).toEqual([200, 'matrix']);
      expect(resultOf(body)[0]?.values?.at(-1)?.[1]).toBe('1');
    });
  expect(await query(daemon, '/api/otel/query', { query: 'sum(' })).toMatchObject({
    status: 400,
    body: { status: 'error', errorType: 'bad_data' },
  });

  // Prometheus can evaluate every expression of the examples.
  const expressions = [...rules(), ...panels().flatMap(({ targets }) => targets.map(({ expr }) => expr))];
  expect(expressions.length).toBeGreaterThan(30);
  for (const expr of expressions) {
    const asked = { query: expr.replaceAll('$__rate_interval', '1m') };
    expect([expr, (await query(daemon, '/api/otel/query', asked)).status]).toEqual([expr, 200]);
  }
  const loaded = (await (await fetch(`http://127.0.0.1:${port}/api/v1/rules`)).json()) as {
    data: { groups: { rules: { name: string; health: string }[] }[] };
  };
  expect(loaded.data.groups[0]?.rules).toHaveLength(rules().length);
});

test('the example files pass promtool, and name only metrics that a daemon exposes', async () => {
  expect(promtoolComplaint('check', 'rules', example('alerts.yml'))).toBeNull();
  expect(promtoolComplaint('check', 'config', example('prometheus.yml'))).toBeNull();
  const exposed = await exposedBy(await startInProcess());
  const named = [read(example('alerts.yml')), read(example('grafana-dashboard.json'))]
    .flatMap((text) => [...text.matchAll(/\bsvc_\w+/g)].map(([name]) => name))
    .map((name) => name.replace(/^(svc_log_commit_seconds)_(?:bucket|sum|count)$/, '$1'));
  expect([...new Set(named)].filter((name) => !exposed.has(name))).toEqual([]);
  expect(new Set(named).size).toBeGreaterThan(20);
});

test('docs/reference/metrics.md names every metric with its type, and no other', async () => {
  const page = read(join(root, 'docs/reference/metrics.md'));
  const rows = [...page.matchAll(/^\| `(svc_(?!relay_)\w+)` +\| (\w+) +\|/gm)];
  const documented = new Map(rows.map(([, name = '', type = '']) => [name, type]));
  const exposed = await exposedBy(await startInProcess());
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(exposed));
});

test('logs, from a server with the API of Loki', async () => {
  const now = Date.now();
  const lines = [1, 2, 3].map((number) => ({
    labels: { app: 'svc', level: number === 3 ? 'error' : 'info' },
    at: now - number * 60_000,
    line: `line ${number}`,
  }));
  const loki = await startFakeLoki(lines, () => now);
  const daemon = await startInProcess({ environment: { OTEL_ENABLED: '1', LOKI_URL: loki.url } });
  await expect
    .poll(async () => (await daemon.get('/api/otel/status')).body['logs'])
    .toMatchObject({ state: 'live' });
  const asked = {
    query: '{app="svc"}',
    start: `${now - 150_000}000000`,
    end: `${now}000000`,
    limit: '1',
    direction: 'forward',
  };
  const body = new URLSearchParams(asked).toString();
  for (const answer of [
    await query(daemon, '/api/otel/logs', asked),
    await daemon.post('/api/otel/logs', body, form),
  ]) {
    expect(answer.status).toBe(200);
    expect(answer.body['data']).toMatchObject({
      resultType: 'streams',
      result: [{ stream: { app: 'svc', level: 'info' }, values: [[`${now - 120_000}000000`, 'line 2']] }],
    });
  }
  const hour = await query(daemon, '/api/otel/logs', { query: '{app="svc"} |= "3"' });
  expect((hour.body['data'] as { result: unknown[] }).result).toHaveLength(1);
  const figure = await query(daemon, '/api/otel/logs', { query: 'count_over_time({app="svc"}[60m])' });
  expect(figure.body['data']).toMatchObject({ resultType: 'vector' });
  expect(await query(daemon, '/api/otel/logs', { query: '{app=' })).toMatchObject({
    status: 400,
    body: { code: 'backend-refused', error: expect.stringContaining('parse error') },
  });
  expect(new Set(loki.requests.map(({ url }) => url.split('?')[0]))).toEqual(
    new Set(['/loki/api/v1/labels', '/loki/api/v1/query_range', '/loki/api/v1/query']),
  );
});

test('the panels of tool usage and API errors get their figures from the log backend', async () => {
  const now = Date.now();
  const logged = [
    { labels: { service_name: 'claude-code', tool_name: 'Bash' }, line: 'claude_code.tool_result' },
    { labels: { service_name: 'claude-code', error: 'overloaded' }, line: 'claude_code.api_error' },
    { labels: { service_name: 'other', tool_name: 'Edit' }, line: 'tool_result api_error' },
  ];
  const loki = await startFakeLoki(
    logged.map((one) => ({ ...one, at: now - 60_000 })),
    () => now,
  );
  const daemon = await startInProcess({ environment: { OTEL_ENABLED: 'true', LOKI_URL: loki.url } });
  const figures = logsPanels.map(async ({ title, query: asked, field }) => {
    const { body } = await query(daemon, '/api/otel/logs', { query: asked });
    const streams = (body['data'] as { result: { stream: Record<string, string> }[] }).result;
    return [title, streams.map(({ stream }) => stream[field])];
  });
  expect(await Promise.all(figures)).toEqual([
    ['Tool usage', ['Bash']],
    ['API errors', ['overloaded']],
  ]);
});

test.each([
  ['by default', {}, 'otel.enabled is false', 'OTEL_ENABLED'],
  ['switched off by the environment', { OTEL_ENABLED: 'false' }, 'otel.enabled is false', 'OTEL_ENABLED'],
  ['without an address', { OTEL_ENABLED: 'true' }, 'is not set', '_URL'],
])('off, 503 with the reason and the remedy: %s', async (_, environment, why, remedy) => {
  const backend = await startRecordingServer((_request, response) => answerWithJson(response, 200, {}));
  const home = temporaryFolder();
  mkdirSync(join(home, '.config', 'svc'), { recursive: true });
  const isOn = JSON.stringify(environment).includes('false');
  const otel = isOn ? { enabled: true, prometheusUrl: backend.url, lokiUrl: backend.url } : {};
  writeFileSync(join(home, '.config', 'svc', 'config.json'), JSON.stringify({ otel }));
  const daemon = await startInProcess({ home, environment });
  for (const route of ['/api/otel/query', '/api/otel/logs']) {
    for (const { status, body } of [
      await daemon.get(`${route}?query=up`),
      await daemon.post(route, 'query=up', form),
    ])
      expect([status, body]).toMatchObject([
        503,
        {
          code: 'not-configured',
          error: expect.stringContaining(why),
          remedy: expect.stringContaining(remedy),
        },
      ]);
  }
  expect(backend.requests).toEqual([]);
});

test('the environment wins over the files, also over a deprecated name', async () => {
  const [named, written] = await Promise.all(
    [1, 2].map(() =>
      startRecordingServer((_, response) => answerWithJson(response, 200, { status: 'success' })),
    ),
  );
  const home = temporaryFolder();
  mkdirSync(join(home, '.config', 'svc'), { recursive: true });
  const otel = { enabled: false, prometheus: written?.url };
  writeFileSync(join(home, '.config', 'svc', 'config.json'), JSON.stringify({ otel }));
  const environment = { OTEL_ENABLED: 'true', PROMETHEUS_URL: named?.url ?? '' };
  const daemon = await startInProcess({ home, environment });
  expect((await daemon.get('/api/otel/query?query=up')).status).toBe(200);
  expect(named?.requests.length).toBeGreaterThan(0);
  expect(written?.requests).toEqual([]);
  expect(daemon.printed().match(/otel\.prometheus\b/g)?.length).toBe(1);
});

test.each([
  ['an unknown parameter', 'query=up&url=http://evil.example', 'Unknown parameter'],
  ['no query', 'time=1', 'query is required'],
  ['a range without its end', 'query=up&start=1', 'end and step are missing'],
  ['a parameter twice', 'query=up&query=down', 'more than once'],
  ['too many points', 'query=up&start=0&end=11000&step=1', 'the maximum is 11000'],
  ['too long a query', `query=${'x'.repeat(16_385)}`, 'at most 16384 bytes'],
])('400, by GET and by POST: %s', async (_, given, words) => {
  const environment = { OTEL_ENABLED: 'true', PROMETHEUS_URL: 'http://127.0.0.1:1' };
  const daemon = await startInProcess({ environment });
  for (const { status, body } of [
    await daemon.get(`/api/otel/query?${given}`),
    await daemon.post('/api/otel/query', given, form),
  ])
    expect([status, body]).toMatchObject([400, { code: 'usage', error: expect.stringContaining(words) }]);
  const twice = await daemon.post('/api/otel/query?query=up', 'query=down', form);
  expect([twice.status, twice.body['error']]).toEqual([400, '"query" is given more than once.']);
  expect((await daemon.post('/api/otel/query', '["up"]', json)).status).toBe(400);
});

test('only the parameters of a request reach the backend, and no other server is called', async () => {
  const canary = await startRecordingServer((_, response) => answerWithJson(response, 200, {}));
  const backend = await startRecordingServer((_, response) =>
    answerWithJson(response, 200, { status: 'success' }),
  );
  const daemon = await startInProcess({
    environment: {
      OTEL_ENABLED: 'true',
      PROMETHEUS_URL: `${backend.url}/base`,
      LOKI_URL: `${backend.url}/base`,
    },
  });
  const host = canary.url.slice('http://'.length);
  const headers = {
    Cookie: 'session=1',
    Authorization: 'Bearer mine',
    'X-Forwarded-Host': host,
    'X-Original-URL': '/admin',
    'X-Rewrite-URL': '/admin',
    'X-HTTP-Method-Override': 'DELETE',
    Forwarded: `host=${host}`,
    Destination: canary.url,
    'X-Scope-OrgID': 'other',
  };
  const before = backend.requests.length;
  for (const route of ['/api/otel/query', '/api/otel/logs']) {
    expect((await daemon.get(`${route}?query=${encodeURIComponent(canary.url)}`, headers)).status).toBe(200);
    expect(
      (await daemon.post(route, `query=${encodeURIComponent(canary.url)}`, { ...form, ...headers })).status,
    ).toBe(200);
    // An absolute address as the target, steps up, a second request smuggled in, an encoded slash: none is a route.
    for (const target of [
      `http://${host}${route}`,
      `${route}/../../../admin`,
      `${route}/%2e%2e/admin`,
      `${route}%2f..`,
      `${route}//${host}`,
    ])
      expect([target, await rawStatus(daemon.port, target)]).not.toEqual([target, 200]);
    await rawStatus(daemon.port, `${route}?query=up%0d%0aHost:%20${host}%0d%0a%0d%0a`);
  }
  expect(canary.requests).toEqual([]);
  const asked = backend.requests
    .slice(before)
    .filter(({ url }) => !url.includes('vector(1)') && !url.endsWith('/labels'));
  expect(asked.length).toBeGreaterThanOrEqual(6);
  for (const request of asked) {
    expect(request.url).toMatch(/^\/base\/(?:loki\/)?api\/v1\/query(?:_range)?\?query=[^&#]+$/);
    expect(request.headers.host).toBe(backend.url.slice('http://'.length));
    for (const name of [...Object.keys(headers), 'origin', 'referer'])
      expect(request.headers[name.toLowerCase()]).toBeUndefined();
  }
  const foreign = await daemon.post('/api/otel/query', 'query=up', {
    ...form,
    Origin: 'http://evil.example',
  });
  expect(foreign.status).toBe(403);
});

/** The status line of a request whose target is sent unchanged. */
function rawStatus(port: number, target: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
    });
    let text = '';
    socket
      .on('data', (part) => (text += part))
      .on('error', reject)
      .on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)));
  });
}
