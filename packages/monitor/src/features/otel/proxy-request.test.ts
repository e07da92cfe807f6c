import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLogsRequest, readMetricsRequest } from './proxy-request.ts';

test.each([
  ['an instant', { query: 'up' }, '/api/v1/query', [['query', 'up']], false],
  [
    'a given instant',
    { query: 'up', time: '1700000000.5' },
    '/api/v1/query',
    [
      ['query', 'up'],
      ['time', '1700000000.5'],
    ],
    false,
  ],
  [
    'a number from JSON',
    { query: 'up', time: 1_700_000_000 },
    '/api/v1/query',
    [
      ['query', 'up'],
      ['time', '1700000000'],
    ],
    false,
  ],
  [
    'a range',
    { step: '15s', end: '2026-01-02T04:00:00Z', query: 'up', start: '2026-01-02T03:00:00+00:00' },
    '/api/v1/query_range',
    [
      ['query', 'up'],
      ['start', '2026-01-02T03:00:00+00:00'],
      ['end', '2026-01-02T04:00:00Z'],
      ['step', '15s'],
    ],
    true,
  ],
  [
    'the maximum number of points',
    { query: 'up', start: 0, end: 10_999, step: 1 },
    '/api/v1/query_range',
    [
      ['query', 'up'],
      ['start', '0'],
      ['end', '10999'],
      ['step', '1'],
    ],
    true,
  ],
])('metrics: %s', (_, given, path, parameters, isRange) => {
  expect(readMetricsRequest(given)).toEqual({ ok: true, request: { path, parameters, isRange } });
});

test.each([
  ['no query', {}, 'query is required'],
  ['an empty query', { query: ' ' }, 'query is required'],
  ['a query of 16 KiB and a byte', { query: 'x'.repeat(16 * 1024 + 1) }, 'at most 16384 bytes'],
  ['a query of 16 KiB in few characters', { query: 'é'.repeat(8 * 1024 + 1) }, 'at most 16384 bytes'],
  ['half a character', { query: 'up\ud800' }, 'not well-formed'],
  ['an unknown parameter', { query: 'up', url: 'http://evil.example' }, 'Unknown parameter "url"'],
  ['a parameter of the backend that is not ours', { query: 'up', timeout: '1h' }, 'Unknown parameter'],
  ['two queries', { query: ['up', 'down'] }, 'more than once'],
  ['an object', { query: { a: 1 } }, 'expected a string'],
  ['start alone', { query: 'up', start: '1' }, 'end and step are missing'],
  ['start and end', { query: 'up', start: '1', end: '2' }, 'step is missing'],
  ['step alone', { query: 'up', step: '1' }, 'start and end are missing'],
  [
    'an instant and a range',
    { query: 'up', time: '1', start: '1', end: '2', step: '1' },
    'time is for an instant',
  ],
  ['an unreadable time', { query: 'up', time: 'now' }, 'time: expected seconds'],
  ['a time with a line break', { query: 'up', time: '1\r\nX-Evil: 1' }, 'time: expected seconds'],
  ['an impossible time', { query: 'up', time: '2026-13-02T03:04:05Z' }, 'time: expected seconds'],
  ['a step of nothing', { query: 'up', start: 0, end: 1, step: 0 }, 'step: expected'],
  ['a step backwards', { query: 'up', start: 0, end: 1, step: '-1' }, 'step: expected'],
  ['an end before the start', { query: 'up', start: 2, end: 1, step: 1 }, 'end is before start'],
  ['11,001 points', { query: 'up', start: 0, end: 11_000, step: 1 }, 'That is 11001 points; the maximum is'],
  ['far too many points', { query: 'up', start: 0, end: 1_700_000_000, step: '1ms' }, 'the maximum is 11000'],
  ['a very long value', { query: 'up', time: '1'.repeat(65) }, 'at most 64 characters'],
])('metrics, rejected: %s', (_, given, problem) => {
  const reading = readMetricsRequest(given);
  expect(reading.ok ? 'taken' : reading.problem).toContain(problem);
});

test.each([
  ['lines of the last hour', { query: '{app="svc"}' }, '/loki/api/v1/query_range', true],
  [
    'lines of a period, in nanoseconds',
    {
      query: '{app="svc"}',
      start: '1700000000000000000',
      end: '1700000001000000000',
      limit: 10,
      direction: 'forward',
    },
    '/loki/api/v1/query_range',
    true,
  ],
  ['a current value', { query: 'count_over_time({app="svc"}[5m])' }, '/loki/api/v1/query', false],
  [
    'a value over a period',
    { query: 'rate({app="svc"}[5m])', start: '2026-01-02T03:00:00Z' },
    '/loki/api/v1/query_range',
    true,
  ],
])('logs: %s', (_, given, path, isRange) => {
  expect(readLogsRequest(given)).toMatchObject({ ok: true, request: { path, isRange } });
});

test.each([
  ['no query', { limit: 10 }, 'query is required'],
  ['a parameter of metrics', { query: '{}', step: 1 }, 'Unknown parameter "step"'],
  ['no lines', { query: '{}', limit: 0 }, 'limit: expected'],
  ['5,001 lines', { query: '{}', limit: '5001' }, 'from 1 to 5000'],
  ['half a line', { query: '{}', limit: 1.5 }, 'limit: expected'],
  ['sideways', { query: '{}', direction: 'sideways' }, 'forward or backward'],
  [
    'an end before the start',
    { query: '{}', start: '1700000001', end: '1700000000000000000' },
    'end is before start',
  ],
  ['an unreadable start', { query: '{}', start: 'yesterday' }, 'start: expected'],
])('logs, rejected: %s', (_, given, problem) => {
  const reading = readLogsRequest(given);
  expect(reading.ok ? 'taken' : reading.problem).toContain(problem);
});

test('for any input, the path is one of four and the parameter names are ours', () => {
  const names = ['query', 'time', 'start', 'end', 'step', 'limit', 'direction', 'url', '__proto__', '../..'];
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom('http://evil.example/', '//evil', '/../../admin', 'up\r\nHost: evil', '1', '15s'),
    fc.double(),
    fc.anything(),
  );
  const given = fc.dictionary(fc.constantFrom(...names), value);
  fc.assert(
    fc.property(given, (fields) => {
      for (const read of [readMetricsRequest, readLogsRequest]) {
        const reading = read(fields);
        if (!reading.ok) continue;
        expect(reading.request.path).toMatch(/^(?:\/loki)?\/api\/v1\/query(?:_range)?$/);
        for (const [name] of reading.request.parameters) expect(names.slice(0, 7)).toContain(name);
      }
    }),
    { numRuns: 500 },
  );
});
