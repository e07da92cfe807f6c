// Queries to the metrics and the log backend: the checked parameters, and the backend's path for them. Whatever the
// caller sends, the path is one of a fixed list and every value becomes a query parameter.
import { utf8Length } from '@svc/lib/cut-text';
import type { Config } from '../config.ts';

type BackendPath =
  | '/api/v1/query'
  | '/api/v1/query_range'
  | '/loki/api/v1/query'
  | '/loki/api/v1/query_range';

export type ProxyRequest = {
  path: BackendPath;
  /** In the order of the documentation; the names are ours, never the caller's. */
  parameters: readonly (readonly [name: string, value: string])[];
  /** A range query: the answer may be a few seconds old. */
  isRange: boolean;
};

export type ProxyReading = { ok: true; request: ProxyRequest } | { ok: false; problem: string };

/** The backend's own limit of points in one series. */
const MOST_POINTS = 11_000;
const LONGEST_QUERY_BYTES = 16 * 1024;
const MOST_LINES = 5_000;
const LONGEST_VALUE = 64;

const metricsFields = ['query', 'time', 'start', 'end', 'step'] as const;
const logsFields = ['query', 'start', 'end', 'limit', 'direction'] as const;

class Problem extends Error {}

/** `query`, and `time` or `start`, `end` and `step`: an instant or a range query of Prometheus. */
export function readMetricsRequest(given: Readonly<Record<string, unknown>>): ProxyReading {
  return reading(() => {
    const { query, time, start, end, step } = textsOf(given, metricsFields);
    const asked = neededQuery(query);
    if (start === undefined && end === undefined && step === undefined) {
      if (time !== undefined) momentOf('time', time);
      return { path: '/api/v1/query', parameters: present({ query: asked, time }), isRange: false };
    }
    if (time !== undefined) throw new Problem('time is for an instant; start, end and step are for a range.');
    if (start === undefined || end === undefined || step === undefined)
      throw new Problem(`A range needs start, end and step; ${missing({ start, end, step })} missing.`);
    checkPoints(momentOf('start', start), momentOf('end', end), stepOf(step));
    const parameters = present({ query: asked, start, end, step });
    return { path: '/api/v1/query_range', parameters, isRange: true };
  });
}

/**
 * `query`, `start`, `end`, `limit` and `direction`. Without a time, log lines are those of the last hour, and a
 * value (a query that does not start with a selector) is the current one.
 */
export function readLogsRequest(given: Readonly<Record<string, unknown>>): ProxyReading {
  return reading(() => {
    const { query, start, end, limit, direction } = textsOf(given, logsFields);
    const asked = neededQuery(query);
    const from = start === undefined ? undefined : logMomentOf('start', start);
    const to = end === undefined ? undefined : logMomentOf('end', end);
    if (from !== undefined && to !== undefined && from > to) throw new Problem('end is before start.');
    if (limit !== undefined && !(/^[1-9]\d{0,3}$/.test(limit) && Number(limit) <= MOST_LINES))
      throw new Problem(`limit: expected a whole number from 1 to ${MOST_LINES}.`);
    if (direction !== undefined && direction !== 'forward' && direction !== 'backward')
      throw new Problem('direction: expected forward or backward.');
    const parameters = present({ query: asked, start, end, limit, direction });
    const isRange = start !== undefined || end !== undefined || /^\s*\{/.test(asked);
    return { path: isRange ? '/loki/api/v1/query_range' : '/loki/api/v1/query', parameters, isRange };
  });
}

function reading(read: () => ProxyRequest): ProxyReading {
  try {
    return { ok: true, request: read() };
  } catch (error) {
    if (error instanceof Problem) return { ok: false, problem: error.message };
    throw error;
  }
}

/** Each at most once, as a string or a number. An unknown parameter is rejected. */
function textsOf<Name extends string>(
  given: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): { [Field in Name]?: string } {
  const texts: { [Field in Name]?: string } = {};
  for (const [name, value] of Object.entries(given)) {
    const known = names.find((one) => one === name);
    if (known === undefined) {
      const shown = JSON.stringify(name.slice(0, 60));
      throw new Problem(`Unknown parameter ${shown}; known are ${names.join(', ')}.`);
    }
    if (value === undefined) continue;
    if (Array.isArray(value)) throw new Problem(`${name} is given more than once.`);
    if (typeof value !== 'string' && !(typeof value === 'number' && Number.isFinite(value)))
      throw new Problem(`${name}: expected a string or a number.`);
    const text = String(value);
    if (!text.isWellFormed()) throw new Problem(`${name} is not well-formed text.`);
    if (known !== 'query' && text.length > LONGEST_VALUE)
      throw new Problem(`${name}: expected at most ${LONGEST_VALUE} characters.`);
    texts[known] = text;
  }
  return texts;
}

function neededQuery(query: string | undefined): string {
  if (query === undefined || query.trim() === '') throw new Problem('query is required.');
  if (query.length > LONGEST_QUERY_BYTES || utf8Length(query) > LONGEST_QUERY_BYTES)
    throw new Problem(`query: expected at most ${LONGEST_QUERY_BYTES} bytes.`);
  return query;
}

function momentOf(name: string, text: string): number {
  const moment = readMoment(text);
  if (moment !== undefined) return moment;
  throw new Problem(`${name}: expected seconds since 1970 or a time like 2026-01-02T03:04:05Z.`);
}

function logMomentOf(name: string, text: string): number {
  const moment = readLogMoment(text);
  if (moment !== undefined) return moment;
  throw new Problem(
    `${name}: expected nanoseconds or seconds since 1970, or a time like 2026-01-02T03:04:05Z.`,
  );
}

function stepOf(text: string): number {
  const step = readStep(text);
  if (step !== undefined) return step;
  throw new Problem('step: expected seconds or a duration like 15s or 1m30s, more than 0.');
}

function checkPoints(start: number, end: number, step: number): void {
  if (end < start) throw new Problem('end is before start.');
  const points = Math.floor((end - start) / step) + 1;
  if (points > MOST_POINTS)
    throw new Problem(`That is ${points} points; the maximum is ${MOST_POINTS}. Use a larger step.`);
}

function missing(values: Readonly<Record<string, string | undefined>>): string {
  const names = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [name] : []));
  return `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'}`;
}

function present(values: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

// Times and steps as the backends read them, in seconds; undefined for values that they would reject.

const plainSeconds = /^\d{1,12}(?:\.\d{1,9})?$/;
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
const wholeNumber = /^\d{11,19}$/;
const durationParts = /(\d{1,9})(ms|[smhdwy])/g;
const duration = /^(?:\d{1,9}(?:ms|[smhdwy]))+$/;
const unitSeconds: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
};

/** A Prometheus time: seconds since 1970, or RFC 3339. */
function readMoment(text: string): number | undefined {
  if (plainSeconds.test(text)) return Number(text);
  return isoTime.test(text) ? isoSeconds(text) : undefined;
}

/** A Loki time: the same, but a whole number of more than ten digits is nanoseconds. */
function readLogMoment(text: string): number | undefined {
  return wholeNumber.test(text) ? Number(text) / 1e9 : readMoment(text);
}

/** Seconds, or a duration like `1m30s`; more than 0. */
function readStep(text: string): number | undefined {
  let seconds = 0;
  if (plainSeconds.test(text)) seconds = Number(text);
  else if (duration.test(text)) {
    for (const [, count = '', unit = ''] of text.matchAll(durationParts))
      seconds += Number(count) * (unitSeconds[unit] ?? Number.NaN);
  }
  return seconds > 0 && Number.isFinite(seconds) ? seconds : undefined;
}

function isoSeconds(text: string): number | undefined {
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000;
}

// Which metrics and log backend the daemon queries: one for all projects.

export type BackendName = 'metrics' | 'logs';

export type BackendChoice = { use: true; url: string } | { use: false; why: string; remedy: string };

const keys = { metrics: 'otel.prometheusUrl', logs: 'otel.lokiUrl' } as const;
const variables = { metrics: 'PROMETHEUS_URL', logs: 'LOKI_URL' } as const;
const examples = { metrics: 'http://127.0.0.1:9090', logs: 'http://127.0.0.1:3100' } as const;

/** The first project that enables the proxies and names the backend. */
export function backendOf(name: BackendName, configs: readonly Pick<Config, 'otel'>[]): BackendChoice {
  const enabled = configs.filter(({ otel }) => otel.enabled);
  if (enabled.length === 0) {
    return {
      use: false,
      why: 'otel.enabled is false',
      remedy: 'Run: svc config set otel.enabled true (or set OTEL_ENABLED=true and restart the daemon)',
    };
  }
  const field = name === 'metrics' ? 'prometheusUrl' : 'lokiUrl';
  const url = enabled.map(({ otel }) => otel[field]).find((one) => one !== null);
  if (url !== undefined) return { use: true, url };
  return {
    use: false,
    why: `${keys[name]} is not set`,
    remedy: `Run: svc config set ${keys[name]} ${examples[name]} (or set ${variables[name]} and restart the daemon)`,
  };
}
