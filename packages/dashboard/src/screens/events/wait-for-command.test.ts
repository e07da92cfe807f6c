import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { waitForFilters, waitForLine } from './wait-for-command.ts';

test('an event of a pull request', () => {
  expect(
    waitForLine({ event: 'codehost.pr.merged', scope: { repo: 'acme/shop', pr: 42, ticket: 'ABC-1' } }),
  ).toBe('svc events wait-for --event codehost.pr.merged --repo acme/shop --pr 42');
});

test('an event of a ticket, and one without a scope', () => {
  expect(waitForLine({ event: 'tracker.issue.updated', scope: { ticket: 'ABC-1' } })).toBe(
    'svc events wait-for --event tracker.issue.updated --ticket ABC-1',
  );
  expect(waitForLine({ event: 'monitor.daemon.started', scope: {} })).toBe(
    'svc events wait-for --event monitor.daemon.started',
  );
});

test('filters, with their jq', () => {
  const filters = { event: 'codehost.*', ticket: '', repo: '', pr: '', filter: '.detail.title == "it\'s"' };
  expect(waitForFilters(filters)).toBe(
    `svc events wait-for --event 'codehost.*' --filter '.detail.title == "it'\\''s"'`,
  );
});

test('a shell reads any text as one word and runs nothing', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }), (text) => {
      const line = waitForFilters({ event: '', ticket: text, repo: '', pr: '', filter: '' });
      const words = line.slice('svc events wait-for --ticket '.length);
      const read = execFileSync('/bin/sh', ['-c', `printf %s ${words}`], { encoding: 'utf8' });
      expect(read).toBe(text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' '));
    }),
    { numRuns: 60 },
  );
});
