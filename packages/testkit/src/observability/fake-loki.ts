// A server with the parts of Grafana Loki's documented HTTP API that log queries use: query, query_range and labels,
// with stream selectors (=, !=, =~, !~), line filters (|=, !=) and count_over_time. An invalid query gets the same
// answer as from Loki: 400, in plain text.
import type { ServerResponse } from 'node:http';
import { answerWithJson, type RecordingServer, startRecordingServer } from './recording-server.ts';

/** `at` in milliseconds. */
export type LogLine = { labels: Readonly<Record<string, string>>; at: number; line: string };

type Selection = { matches: (line: LogLine) => boolean; rest: string };

const DEFAULT_LIMIT = 100;
const HOUR_MS = 3_600_000;

export async function startFakeLoki(lines: readonly LogLine[], now: () => number): Promise<RecordingServer> {
  return startRecordingServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://loki');
    const isForm = request.method === 'POST';
    const given = isForm ? new URLSearchParams(request.body) : searchParams;
    if (pathname === '/loki/api/v1/labels') {
      const names = [...new Set(lines.flatMap(({ labels }) => Object.keys(labels)))].toSorted();
      return answerWithJson(response, 200, { status: 'success', data: names });
    }
    const query = given.get('query') ?? '';
    try {
      if (pathname === '/loki/api/v1/query') return instant(response, lines, query, now());
      if (pathname === '/loki/api/v1/query_range') return range(response, lines, given, now());
    } catch (error) {
      response.writeHead(400, { 'Content-Type': 'text/plain; charset=utf-8' });
      return response.end(error instanceof Error ? error.message : String(error));
    }
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('404 page not found');
  });
}

function instant(response: ServerResponse, lines: readonly LogLine[], query: string, now: number): void {
  const counted = /^count_over_time\((.*)\[(\d+)m\]\)$/s.exec(query.trim());
  if (counted === null) {
    if (query.trim().startsWith('{'))
      throw new Error(
        'log queries are not supported as an instant query type, please change your query to a range query type',
      );
    throw parseError(query);
  }
  const [, selector = '', minutes = ''] = counted;
  const { matches } = select(selector);
  const since = now - Number(minutes) * 60_000;
  const result = streamsOf(lines.filter((line) => line.at > since && line.at <= now && matches(line))).map(
    ([metric, found]) => ({ metric, value: [now / 1000, String(found.length)] }),
  );
  answerWithJson(response, 200, { status: 'success', data: { resultType: 'vector', result, stats: {} } });
}

function range(
  response: ServerResponse,
  lines: readonly LogLine[],
  given: URLSearchParams,
  now: number,
): void {
  const { matches } = select(given.get('query') ?? '');
  const end = momentOf(given.get('end')) ?? now;
  const start = momentOf(given.get('start')) ?? end - HOUR_MS;
  const limit = Number(given.get('limit') ?? DEFAULT_LIMIT);
  const forward = given.get('direction') === 'forward';
  const found = lines
    .filter((line) => line.at >= start && line.at < end && matches(line))
    .toSorted((one, other) => (forward ? one.at - other.at : other.at - one.at))
    .slice(0, limit);
  const result = streamsOf(found).map(([stream, own]) => ({
    stream,
    values: own.map(({ at, line }) => [`${Math.round(at)}000000`, line]),
  }));
  answerWithJson(response, 200, { status: 'success', data: { resultType: 'streams', result, stats: {} } });
}

function streamsOf(lines: readonly LogLine[]): [Readonly<Record<string, string>>, LogLine[]][] {
  const streams = Map.groupBy(lines, ({ labels }) => JSON.stringify(labels));
  return [...streams.values()].flatMap((own) => (own[0] === undefined ? [] : [[own[0].labels, own]]));
}

/** `{app="svc", level=~"warn|error"} |= "text"` */
function select(query: string): Selection {
  const whole = /^\s*\{([^}]*)\}((?:\s*(?:\|=|!=)\s*"[^"]*")*)\s*$/.exec(query);
  if (whole === null) throw parseError(query);
  const [, inside = '', rest = ''] = whole;
  const labels = inside
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(matcherOf);
  if (labels.length === 0)
    throw new Error('parse error : queries require at least one regexp or equality matcher');
  const filters = [...rest.matchAll(/(\|=|!=)\s*"([^"]*)"/g)].map(
    ([, operator, text = '']) =>
      ({ line }: LogLine) =>
        line.includes(text) === (operator === '|='),
  );
  return { matches: (line) => [...labels, ...filters].every((test) => test(line)), rest };
}

function matcherOf(text: string): (line: LogLine) => boolean {
  const parts = /^\s*([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*"([^"]*)"\s*$/.exec(text);
  if (parts === null) throw parseError(text);
  const [, name = '', operator = '', value = ''] = parts;
  const isPattern = operator.endsWith('~');
  const pattern = new RegExp(`^(?:${isPattern ? value : ''})$`);
  return ({ labels }) => {
    const has = labels[name] ?? '';
    return (isPattern ? pattern.test(has) : has === value) === operator.startsWith('=');
  };
}

function parseError(query: string): Error {
  const found = query.trim().split(/\s/)[0] ?? '';
  return new Error(`parse error at line 1, col 1: syntax error: unexpected ${found || '$end'}`);
}

/** Nanoseconds, seconds or RFC 3339, in milliseconds. */
function momentOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{11,}$/.test(text)) return Number(text) / 1e6;
  return /^\d/.test(text) && !text.includes('T') ? Number(text) * 1000 : Date.parse(text);
}
