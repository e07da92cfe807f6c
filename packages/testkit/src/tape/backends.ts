// A metrics and a log backend that know the tape's day: what the agents spent, which tools they used and which
// calls failed. Each speaks as much of its vendor's documented API as the dashboard asks for.
import { createServer, type ServerResponse } from 'node:http';
import { createRandom } from '../random.ts';

export type TapeBackends = { metricsUrl: string; logsUrl: string; close: () => Promise<void> };

export async function startTapeBackends(seed: number): Promise<TapeBackends> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request
      .on('data', (part: Buffer) => parts.push(part))
      .on('end', () => {
        const { pathname, searchParams } = new URL(request.url ?? '', 'http://backend');
        const form = new URLSearchParams(Buffer.concat(parts).toString());
        const given = (name: string): string => form.get(name) ?? searchParams.get(name) ?? '';
        answer(response, pathname, given, seed);
      });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    metricsUrl: `http://127.0.0.1:${port}`,
    logsUrl: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Given = (name: string) => string;

function answer(response: ServerResponse, path: string, given: Given, seed: number): void {
  const send = (data: unknown): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: 'success', data }));
  };
  const now = Date.now() / 1_000;
  switch (path) {
    case '/api/v1/query': {
      const result = [{ metric: {}, value: [now, '1'] }];
      return send({ resultType: 'vector', result });
    }
    case '/api/v1/query_range':
      return send({ resultType: 'matrix', result: matrix(given, seed) });
    case '/loki/api/v1/labels':
      return send(['service_name', 'level']);
    case '/loki/api/v1/query_range':
      return send({ resultType: 'streams', result: streams(given, seed) });
    default:
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('404 page not found');
  }
}

const tokenTypes = ['input', 'output', 'cacheRead', 'cacheCreation'];
const weights: Record<string, number> = {
  input: 40_000,
  output: 9_000,
  cacheRead: 310_000,
  cacheCreation: 22_000,
};

/** More in the middle of the working hours, nothing in the night. */
function matrix(given: Given, seed: number) {
  const query = given('query');
  const end = secondsIn(given('end')) ?? Date.now() / 1_000;
  const start = secondsIn(given('start')) ?? end - 3_600;
  const step = Math.max(secondsIn(given('step')) ?? 60, (end - start) / 1_000);
  const byType = query.includes('by (type)');
  return (byType ? tokenTypes : ['all']).map((type, index) => {
    const random = createRandom(seed + index);
    const values: [number, string][] = [];
    for (let time = start; time <= end; time += step) {
      const busy = busyAt(time, Date.now() / 1_000) * (0.6 + random.next() * 0.8);
      const amount = byType ? (weights[type] ?? 1) * busy * (step / 600) : busy * 1.4 * (step / 600);
      values.push([Math.round(time), String(Math.round(amount * 10_000) / 10_000)]);
    }
    return { metric: byType ? { type } : {}, values };
  });
}

/** 0 to 1: the day began nine and a half hours ago, and so did every day before it. */
function busyAt(time: number, now: number): number {
  const hour = 9.5 - (((now - time) / 3_600) % 24);
  return hour < 0 || hour > 9.5 ? 0 : Math.sin((hour / 9.5) * Math.PI) ** 0.6;
}

const tools: readonly (readonly [tool: string, share: number])[] = [
  ['Read', 96],
  ['Edit', 71],
  ['Bash', 64],
  ['Grep', 42],
  ['Write', 19],
  ['Glob', 12],
];
const errors: readonly (readonly [error: string, share: number])[] = [
  ['overloaded_error', 4],
  ['rate_limit_error', 2],
];

function streams(given: Given, seed: number) {
  const isErrors = given('query').includes('api_error');
  const end = secondsIn(given('end')) ?? Date.now() / 1_000;
  const start = secondsIn(given('start')) ?? end - 3_600;
  const random = createRandom(seed);
  const field = isErrors ? 'error' : 'tool_name';
  return (isErrors ? errors : tools).map(([value, share]) => ({
    stream: { service_name: 'claude-code', level: isErrors ? 'error' : 'info', [field]: value },
    values: Array.from({ length: share }, () => {
      const at = start + random.next() * (end - start);
      const line = JSON.stringify({ event: isErrors ? 'api_error' : 'tool_result', [field]: value });
      return [`${Math.round(at * 1_000)}000000`, line];
    }),
  }));
}

/** Seconds, nanoseconds, a duration such as `10m`, or a time. */
function secondsIn(text: string): number | undefined {
  if (text === '') return undefined;
  const [, amount, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * ({ s: 1, m: 60, h: 3_600, d: 86_400 }[unit] ?? 1);
  const number = Number(text);
  if (Number.isFinite(number)) return number > 1e14 ? number / 1e9 : number;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time / 1_000;
}
