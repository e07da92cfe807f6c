// A metrics and a log backend for the Telemetry screen: agent cost, tool usage and failed calls, all of the day itself,
// so that their sums are those that the agents reported. Each implements the part of the vendor's documented API that
// the dashboard uses.
import type { ServerResponse } from 'node:http';
import type { Day } from './day.ts';
import { type LocalServer, sendJson, startLocalServer } from './local-server.ts';

export type DemoBackends = Pick<LocalServer, 'close'> & { metricsUrl: string; logsUrl: string };

export async function startDemoBackends(day: Pick<Day, 'records' | 'timeOf'>): Promise<DemoBackends> {
  const [spent, used] = [spentIn(day), toolsIn(day)];
  const { port, close } = await startLocalServer(({ url: asked, body }, response) => {
    const form = new URLSearchParams(body);
    const given: Given = (name) => form.get(name) ?? asked.searchParams.get(name) ?? '';
    const now = Date.now();
    const until = <T extends { at: number }>(all: readonly T[]): Dated<T>[] =>
      all.flatMap((one) => {
        const time = day.timeOf(one.at).getTime();
        return time <= now ? [{ ...one, time }] : [];
      });
    answer(response, asked.pathname, given, { spent: () => until(spent), used: () => until(used) });
  });
  const url = `http://127.0.0.1:${port}`;
  return { metricsUrl: url, logsUrl: url, close };
}

type Given = (name: string) => string;
type Dated<T> = T & { time: number };
type Spent = { at: number; usd: number; input: number; output: number };
type Used = { at: number; tool: string };
type Known = { spent: () => Dated<Spent>[]; used: () => Dated<Used>[] };

/** What each report of an agent added to its cost. */
function spentIn({ records }: Pick<Day, 'records'>): Spent[] {
  const before = new Map<string, Omit<Spent, 'at'>>();
  return records.flatMap((record) => {
    if (record.kind !== 'signal' || !record.patch.cost) return [];
    const key = `${record.orchestrator}/${record.ticket}`;
    const { usd, inputTokens, outputTokens } = record.patch.cost;
    const total = { usd: usd ?? 0, input: inputTokens ?? 0, output: outputTokens ?? 0 };
    const last = before.get(key) ?? { usd: 0, input: 0, output: 0 };
    before.set(key, total);
    return [
      {
        at: record.at,
        usd: total.usd - last.usd,
        input: total.input - last.input,
        output: total.output - last.output,
      },
    ];
  });
}

/** The tools in the agents' output. */
function toolsIn({ records }: Pick<Day, 'records'>): Used[] {
  return records.flatMap((record) =>
    record.kind === 'output'
      ? [...JSON.stringify(record.lines).matchAll(/"type":"tool_use","id":"[^"]*","name":"(\w+)"/g)].map(
          ([, tool = '']) => ({ at: record.at, tool }),
        )
      : [],
  );
}

function answer(response: ServerResponse, path: string, given: Given, known: Known): void {
  const send = (data: unknown): void => sendJson(response, 200, { status: 'success', data });
  switch (path) {
    case '/api/v1/query': {
      const result = [{ metric: {}, value: [Date.now() / 1_000, '1'] }];
      return send({ resultType: 'vector', result });
    }
    case '/api/v1/query_range':
      return send({ resultType: 'matrix', result: matrix(given, known.spent()) });
    case '/loki/api/v1/labels':
      return send(['service_name', 'level']);
    case '/loki/api/v1/query_range':
      return send({ resultType: 'streams', result: streams(given, known.used()) });
    default:
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('404 page not found');
  }
}

/** The increase in the step before each time. */
function matrix(given: Given, spent: readonly Dated<Spent>[]) {
  const { start, end } = rangeOf(given);
  const step = secondsIn(given('step')) ?? 60;
  const byType = given('query').includes('by (type)');
  return (byType ? (['input', 'output'] as const) : (['usd'] as const)).map((field) => {
    const values: [number, string][] = [];
    for (let time = start; time < end + step; time += step) {
      const isIn = (at: number): boolean => at > (time - step) * 1_000 && at <= time * 1_000;
      const amount = spent.reduce((sum, one) => sum + (isIn(one.time) ? one[field] : 0), 0);
      values.push([Math.round(time), String(Math.round(amount * 10_000) / 10_000)]);
    }
    return { metric: byType ? { type: field } : {}, values };
  });
}

/** No call of the day failed. */
function streams(given: Given, used: readonly Dated<Used>[]) {
  if (given('query').includes('api_error')) return [];
  const { start, end } = rangeOf(given);
  const inRange = used.filter(({ time }) => time >= start * 1_000 && time <= end * 1_000);
  return [...Map.groupBy(inRange, ({ tool }) => tool)].map(([tool, all]) => ({
    stream: { service_name: 'claude-code', level: 'info', tool_name: tool },
    values: all.map(({ time }) => [
      `${Math.round(time)}000000`,
      JSON.stringify({ event: 'tool_result', tool_name: tool }),
    ]),
  }));
}

function rangeOf(given: Given): { start: number; end: number } {
  const end = secondsIn(given('end')) ?? Date.now() / 1_000;
  return { start: secondsIn(given('start')) ?? end - 3_600, end };
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
