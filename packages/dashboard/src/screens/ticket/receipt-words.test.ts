import type { Receipt } from 'svc-monitor/src/features/workers/api.ts';
import { expect, test } from 'vitest';
import { linkMeaning, linkValue, receiptText, shippedWords } from './receipt-panel.tsx';

const sha = '1a2b3c4d5e6f'.padEnd(40, '0');
const receipt: Receipt = {
  ticket: 'ABC-1',
  orchestrator: 'run-1',
  status: 'done',
  shipped: true,
  missing: null,
  next: null,
  flagged: [],
  links: [
    { link: 'ticket', value: 'ABC-1', grade: 'observed', at: '2026-11-09T10:00:00.000Z', seq: 3 },
    { link: 'merge', value: sha, grade: 'fetched', at: '2026-11-09T11:00:00.000Z', seq: 9 },
    { link: 'deployment', value: null, grade: 'missing', at: null, seq: null },
  ],
};

test('one sentence states whether it shipped; it may be unknown', () => {
  expect(shippedWords(receipt)).toEqual({ meaning: 'proven', words: 'ABC-1 shipped.' });
  expect(shippedWords({ ...receipt, shipped: false }).words).toBe('ABC-1 has not shipped.');
  expect(shippedWords({ ...receipt, shipped: null })).toEqual({
    meaning: 'unknown',
    words: 'It is unknown whether ABC-1 shipped.',
  });
});

test('work that a person accepted is not green', () => {
  const flagged = ['A person accepted it as done; no successful deployment was seen.'];
  expect(shippedWords({ ...receipt, flagged }).meaning).toBe('unknown');
});

test.each([
  ['merge', 'observed', sha, 'proven'],
  ['merge', 'fetched', sha, 'proven'],
  ['merge', 'claimed', sha, 'unknown'],
  ['deployment', 'missing', null, 'unknown'],
  ['deployment', 'not-required', null, 'unknown'],
  ['checks', 'observed', 'failed: build', 'broken'],
  ['checks', 'observed', 'running: build', 'motion'],
  ['checks', 'claimed', 'passed', 'unknown'],
] as const)('%s that was %s as %s means %s', (link, grade, value, meaning) => {
  expect(linkMeaning({ link, grade, value })).toBe(meaning);
});

test('a link without a value has a text', () => {
  const link = { link: 'deployment', value: null, at: null, seq: null } as const;
  expect(linkValue({ ...link, grade: 'missing' })).toBe('Not seen');
  expect(linkValue({ ...link, grade: 'not-required' })).toBe('Not required for this repository');
  expect(linkValue({ ...link, grade: 'claimed' })).toBe('Name unknown');
});

test('the text has every link with its grade and event', () => {
  expect(receiptText({ ...receipt, flagged: ['It was merged with failed checks.'] })).toBe(
    [
      'Ship receipt of ABC-1, run run-1',
      'ABC-1 shipped.',
      '',
      'observed      Ticket        ABC-1  2026-11-09T10:00:00.000Z  event 3',
      'fetched       Merge         1a2b3c4d5e6f  2026-11-09T11:00:00.000Z  event 9',
      'missing       Deployment    Not seen',
      '',
      '! It was merged with failed checks.',
    ].join('\n'),
  );
});
