import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findingLine, MAX_FINDING_LINE_BYTES, readFindingLine, severityFrom } from './findings.ts';

const finding = {
  ts: '2026-01-02T03:04:05.678Z',
  skill: 'implement-plan',
  title: 'The plan names a file that is not there',
  body: 'line one\nline two',
  severity: 'low' as const,
  tags: ['plans'],
};

test('a line is the six fields and a line break, and is read back unchanged', () => {
  const line = findingLine(finding);
  expect(line).toBe(`${JSON.stringify(finding)}\n`);
  expect(readFindingLine(line.trimEnd())).toEqual({ finding });
});

test('a line is never longer than 64 KiB, whatever is in it, and is marked when cut', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), (some) => {
      const line = findingLine({
        ...finding,
        title: some.repeat(9_000),
        skill: some.repeat(9_000),
        tags: Array.from({ length: 80 }, () => some.repeat(500)),
        body: some.repeat(Math.ceil(90_000 / some.length)),
      });
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(MAX_FINDING_LINE_BYTES);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      const read = readFindingLine(line.trimEnd());
      expect('finding' in read && read.finding.body).toMatch(/…\[cut \d+ characters\]$/);
    }),
    { numRuns: 60 },
  );
});

test('a body that fits is not cut, and one byte more is', () => {
  const space = MAX_FINDING_LINE_BYTES - Buffer.byteLength(findingLine({ ...finding, body: '' }));
  expect(Buffer.byteLength(findingLine({ ...finding, body: 'x'.repeat(space) }))).toBe(
    MAX_FINDING_LINE_BYTES,
  );
  expect(findingLine({ ...finding, body: 'x'.repeat(space + 1) })).toContain('…[cut ');
});

test.each([
  ['low', 'low'],
  ['med', 'medium'],
  ['medium', 'medium'],
  ['HIGH ', 'high'],
  ['severe', undefined],
  ['', undefined],
])('severity %s is %s', (text, severity) => {
  expect(severityFrom(text)).toBe(severity);
});

describe('lines written by hand', () => {
  test('fields with a default may be missing', () => {
    const { ts, title } = finding;
    expect(readFindingLine(JSON.stringify({ ts, title }))).toEqual({
      finding: { ts, title, skill: '', body: '', severity: 'low', tags: [] },
    });
    expect(readFindingLine(JSON.stringify({ ts, title, severity: 'med' }))).toMatchObject({
      finding: { severity: 'medium' },
    });
  });

  test.each([
    ['half a line', '{"ts":"2026-', 'not JSON'],
    ['a list', '[]', 'not an object'],
    ['null', 'null', 'not an object'],
    ['no title', JSON.stringify({ ...finding, title: '' }), 'title'],
    ['another severity', JSON.stringify({ ...finding, severity: 'severe' }), 'severity'],
  ])('%s is reported', (_, text, problem) => {
    expect(readFindingLine(text)).toEqual({ problem: expect.stringContaining(problem) });
  });
});
