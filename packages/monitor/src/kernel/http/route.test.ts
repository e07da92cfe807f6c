import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { api } from '../../features/api.ts';
import type { ApiRoute } from './api-route.ts';
import { route } from './route.ts';
import { createHttpServer } from './server.ts';
import { allowEveryone } from './testing/allow-everyone.ts';

/** They take the parameters of the backends, from a query or a form, and refuse unknown ones themselves. */
const passedOn = ['/api/otel/query', '/api/otel/logs'];
const described: [string, ApiRoute][] = Object.entries<ApiRoute>(api).filter(
  ([, { path }]) => path.startsWith('/api/') && !path.startsWith('/api/webhook') && !passedOn.includes(path),
);

/** A body for every route that needs one. */
const bodies: Partial<Record<keyof typeof api, object>> = {
  startRun: { project: '/acme', tickets: ['ABC-1'] },
  checkStart: { project: '/acme', tickets: ['ABC-1'] },
  startTask: { project: '/acme', text: 'Add the login form' },
  retryTicket: { ticket: 'ABC-1' },
  decideDeploy: { action: 'retry' },
  answerAgent: { request: '1', answer: 'allow_once' },
  messageAgent: { text: 'go on' },
  setAgentOption: { setting: 'model', value: 'large' },
  checkAgent: { project: '/acme', name: 'claude' },
  acknowledgeAttention: { id: 'a/b/c' },
  snoozeAttention: { id: 'a/b/c', for: '2h' },
  handOverAttention: { id: 'a/b/c', to: 'kim' },
  resolveAttention: { id: 'a/b/c' },
  undoAttention: { id: 'a/b/c' },
  createTeam: { relay: 'https://relay.example', name: 'web', person: 'kim', machine: 'laptop' },
  joinTeam: { invitation: 'https://relay.example/c#s.a', person: 'kim', machine: 'laptop' },
  removeFromTeam: { machine: 'laptop' },
  commandMachine: { machine: 'laptop', command: { verb: 'pause', run: 'run-1' } },
  setTicketPhase: { phase: 'done' },
  retryEffect: { key: '7:notify' },
  summarizeRun: { orchId: 'run-1' },
  reportEvent: { event: 'comms.attention' },
  exchangeCode: { code: 'x' },
  askByHook: { agent: 'claude', session: 's-1', tool: 'Bash', call: 'x', input: '{}' },
  answerSession: { session: 'claude/s-1', request: '1', answer: 'allow_once' },
  relaxDeployPolicy: { repo: 'acme/web', by: 'kim' },
  reportHook: { agent: 'claude', event: 'Stop', session: 's-1', folder: '/acme', at: 1 },
};

/** A query for every route that needs one. */
const queries: Readonly<Record<string, string>> = { listAgents: 'project=/acme&' };

/** Every described route; each returns its request. */
async function everyRoute(): Promise<string> {
  const server = createHttpServer({
    logger: pino({ level: 'silent' }),
    access: allowEveryone,
    show: () => false,
    onAnswer: () => undefined,
    routes: [
      (app) => {
        for (const [, one] of described) route(app, one, (asked) => asked);
      },
    ],
  });
  const port = await server.listen(0);
  onTestFinished(() => server.close());
  return `http://127.0.0.1:${port}`;
}

const ask = async (address: string, method = 'GET', body?: object) => {
  const sent = { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body ?? {}) };
  const response = await fetch(address, { method, ...(method === 'POST' && sent) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

test('an unknown field is refused, in the query and in the body of every route', async () => {
  const url = await everyRoute();
  const refused = { code: 'usage', error: expect.stringContaining('Unknown field "verbos"') };
  for (const [name, { method, path }] of described) {
    const address = `${url}${path.replaceAll(/\{\w+\}/g, 'ABC-1')}?${queries[name] ?? ''}`;
    const body = Object.entries(bodies).find(([known]) => known === name)?.[1];
    const plain = await ask(address, method, body);
    expect(plain, name).toMatchObject({
      status: 200,
      body: { body: body === undefined ? {} : expect.anything() },
    });
    expect(await ask(`${address}verbos=1`, method, body), name).toEqual({ status: 400, body: refused });
    if (method === 'POST')
      expect(await ask(address, method, { ...body, verbos: 1 }), name).toEqual({
        status: 400,
        body: refused,
      });
  }
});

test('known fields are accepted, by HEAD too', async () => {
  const url = await everyRoute();
  expect((await fetch(`${url}/api/board?at=1h`)).status).toBe(200);
  expect((await fetch(`${url}/api/board?at=1h`, { method: 'HEAD' })).status).toBe(200);
  expect((await fetch(`${url}/api/board?when=1h`, { method: 'HEAD' })).status).toBe(400);
});

test('a handler gets parsed values: numbers, durations, defaults', async () => {
  const url = await everyRoute();
  const output = await ask(`${url}/api/workers/ABC-1/output?after=7`);
  expect(output.body).toEqual({ params: { ticket: 'ABC-1' }, query: { after: 7, limit: 200 }, body: {} });
  const check = await ask(`${url}/api/feeds/check`, 'POST', { repair: true });
  expect(check.body).toEqual({ params: {}, query: {}, body: { since: 3_600_000, repair: true } });
});
