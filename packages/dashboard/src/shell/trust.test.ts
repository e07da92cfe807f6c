import { doctorFinding } from 'svc-monitor/src/kernel/check/finding.ts';
import { expect, test } from 'vitest';
import { trustLine } from './trust.ts';

const log = doctorFinding('log', 'ok', 'a test event was written and read back');
const blind = doctorFinding('feeds', 'broken', 'the codehost feed is blind: the relay is silent', {
  remedy: 'Check the network',
});
const late = doctorFinding('feeds', 'warning', 'the tracker feed is late: no ping for 40 s');
const connecting = doctorFinding('feeds', 'unknown', 'the codehost feed is connecting');
const off = (what: string, part: 'feeds' | 'tracker' | 'telemetry' = 'feeds') =>
  doctorFinding(part, 'ok', `${what}: nothing is configured`, { remedy: 'Run: svc setup-webhooks' });

test.each([
  ['all well', [log], 'proven', 'Everything is live'],
  [
    'what is off',
    [log, off('the tracker feed is off'), off('the issue tracker is not polled', 'tracker')],
    'proven',
    'Live (the tracker feed is off, the issue tracker is not polled)',
  ],
  [
    'more off than are named',
    ['a', 'b', 'c', 'd'].map((name) => off(`the ${name} feed is off`)),
    'proven',
    'Live (the a feed is off, the b feed is off and 2 more)',
  ],
  ['backends that are not configured', [log, off('metrics', 'telemetry')], 'proven', 'Everything is live'],
  ['blind', [blind, log], 'broken', 'The codehost feed is blind: the relay is silent'],
  [
    'two wrong, the worst first',
    [blind, late, log],
    'broken',
    'The codehost feed is blind: the relay is silent, and 1 more',
  ],
  ['late', [late], 'you', 'The tracker feed is late: no ping for 40 s'],
  ['connecting', [connecting, log], 'unknown', 'The codehost feed is connecting'],
])('%s', (_what, findings, meaning, words) =>
  expect(trustLine(findings, { isPast: false })).toEqual({ meaning, words }),
);

test('above a past board it says so, whatever else it says', () => {
  expect(trustLine([log], { isPast: true })).toEqual({ meaning: 'unknown', words: 'This board is not live' });
  expect(trustLine([blind], { isPast: true })).toEqual({
    meaning: 'broken',
    words: 'This board is not live. The codehost feed is blind: the relay is silent',
  });
});
