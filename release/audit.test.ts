import { expect, it, test } from 'vitest';
import { billProblems, readAudit } from './check.ts';

const shipped = [{ name: 'pino', version: '1.0.0', licence: 'MIT' }];
const answer = (...found: [name: string, severity: string][]): string =>
  JSON.stringify({
    vulnerabilities: Object.fromEntries(
      found.map(([name, severity]) => [name, { name, severity, range: '<2' }]),
    ),
  });

test.each([
  ['nothing', answer(), false, 'audit: nothing high or critical in shipped packages'],
  ['a lesser one', answer(['pino', 'moderate']), false, 'in shipped packages; lesser: pino <2 (moderate)'],
  ['one of a tool', answer(['vite', 'critical']), false, 'nothing high or critical in shipped packages'],
  ['a high one', answer(['pino', 'high']), true, 'audit: pino <2 (high)'],
  ['a critical one', answer(['pino', 'critical'], ['vite', 'high']), true, 'audit: pino <2 (critical)'],
  [
    'a registry without audits',
    JSON.stringify({
      message: '405 Method Not Allowed - POST https://host.example/-/npm/v1/x',
      statusCode: 405,
    }),
    false,
    'audit: unknown (405 Method Not Allowed - POST the registry)',
  ],
  ['an error without a message', '{"error":{}}', false, 'audit: unknown (no answer)'],
  ['no JSON', 'npm ERR!', false, 'audit: unknown (npm audit printed no JSON)'],
])('%s', (_, printed, isBad, line) => {
  expect(readAudit(printed, shipped)).toEqual({ isBad, line: expect.stringContaining(line) });
});

it('a package that ships and is not in the bill of materials is found', () => {
  const bill = { components: [{ purl: 'pkg:npm/pino@1.0.1' }, { purl: 'pkg:npm/%40nats-io/kv@3.0.0' }] };
  const listed = { name: '@nats-io/kv', version: '3.0.0', licence: 'MIT' };
  expect(billProblems(bill, [...shipped, listed])).toEqual([
    'pino 1.0.0 ships, but is not in the bill of materials',
  ]);
});
