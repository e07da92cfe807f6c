// A metrics and a log backend for the Telemetry screen: agent cost, tool usage and failed calls. Each implements the
// part of the vendor's documented API that the dashboard uses.
import type { ServerResponse } from 'node:http';
import { type LocalServer, sendJson, startLocalServer } from './local-server.ts';

export type DemoBackends = Pick<LocalServer, 'close'> & { metricsUrl: string; logsUrl: string };

export async function startDemoBackends(): Promise<DemoBackends> {
  const { port, close } = await startLocalServer(({ url: asked, body }, response) => {
    const form = new URLSearchParams(body);
    answer(response, asked.pathname, (name) => form.get(name) ?? asked.searchParams.get(name) ?? '');
  });
  const url = `http://127.0.0.1:${port}`;
  return { metricsUrl: url, logsUrl: url, close };
}

type Given = (name: string) => string;

function answer(response: ServerResponse, path: string, given: Given): void {
  const send = (data: unknown): void => sendJson(response, 200, { status: 'success', data });
  switch (path) {
    case '/api/v1/query': {
      const result = [{ metric: {}, value: [Date.now() / 1_000, '1'] }];
      return send({ resultType: 'vector', result });
    }
    case '/api/v1/query_range':
      return send({ resultType: 'matrix', result: matrix(given) });
    case '/loki/api/v1/labels':
      return send(['service_name', 'level']);
    case '/loki/api/v1/query_range':
      return send({ resultType: 'streams', result: streams(given) });
    default:
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('404 page not found');
  }
}

/** A repeatable pseudo-random value from 0 to 1. */
function noise(number: number): number {
  const spread = Math.sin((number + 1) * 12.9898) * 43_758.5453;
  return spread - Math.floor(spread);
}

const tokenTypes = ['input', 'output', 'cacheRead', 'cacheCreation'];
const weights: Record<string, number> = {
  input: 40_000,
  output: 9_000,
  cacheRead: 310_000,
  cacheCreation: 22_000,
};

/** Most in the middle of the working hours, nothing at night. */
function matrix(given: Given) {
  const query = given('query');
  const end = secondsIn(given('end')) ?? Date.now() / 1_000;
  const start = secondsIn(given('start')) ?? end - 3_600;
  const step = Math.max(secondsIn(given('step')) ?? 60, (end - start) / 1_000);
  const byType = query.includes('by (type)');
  return (byType ? tokenTypes : ['all']).map((type, index) => {
    const values: [number, string][] = [];
    for (let time = start; time <= end; time += step) {
      const busy = busyAt(time, Date.now() / 1_000) * (0.6 + noise(values.length * 7 + index) * 0.8);
      const amount = byType ? (weights[type] ?? 1) * busy * (step / 600) : busy * 1.4 * (step / 600);
      values.push([Math.round(time), String(Math.round(amount * 10_000) / 10_000)]);
    }
    return { metric: byType ? { type } : {}, values };
  });
}

/** 0 to 1: each day started nine and a half hours before the current time of day. */
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

function streams(given: Given) {
  const isErrors = given('query').includes('api_error');
  const end = secondsIn(given('end')) ?? Date.now() / 1_000;
  const start = secondsIn(given('start')) ?? end - 3_600;
  const field = isErrors ? 'error' : 'tool_name';
  return (isErrors ? errors : tools).map(([value, share]) => ({
    stream: { service_name: 'claude-code', level: isErrors ? 'error' : 'info', [field]: value },
    values: Array.from({ length: share }, (_, index) => {
      const at = start + noise(index * 7 + share) * (end - start);
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
