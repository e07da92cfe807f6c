import { expect, test } from 'vitest';
import { flagWith, scopesFrom } from './tool.ts';

test.each([
  ['read', ['read']],
  ['read,attention', ['read', 'attention']],
  [' read , findings,read', ['read', 'findings']],
])('%s', (text, names) => {
  expect([...scopesFrom(text)]).toEqual(names);
});

test.each(['', 'write', 'read,', 'Read', 'toString'])('%j is an error that lists the scopes', (text) => {
  expect(() => scopesFrom(text)).toThrow('Use read, attention, agents, findings, summarize.');
});

test('the flag that adds a scope', () => {
  expect(flagWith(new Set(['read']), 'summarize')).toBe('--scopes read,summarize');
  expect(flagWith(new Set(['summarize']), 'read')).toBe('--scopes read,summarize');
});
