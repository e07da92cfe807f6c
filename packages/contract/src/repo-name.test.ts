import { expect, test } from 'vitest';
import { repoKey, repoNameIn } from './repo-name.ts';

test.each([
  ['acme/web', { owner: 'acme', name: 'web' }],
  ['a-b/.github', { owner: 'a-b', name: '.github' }],
  ['acme/web.js_2', { owner: 'acme', name: 'web.js_2' }],
])('%s is a repository', (text, expected) => {
  expect(repoNameIn(text)).toEqual(expected);
});

test.each([
  '',
  'acme',
  'acme/',
  '/web',
  'acme/web/x',
  'acme/..',
  'acme/.',
  '-X/web',
  'acme/w b',
  'a/b?c',
  'a/b#c',
  '../x',
])('%j is not a repository', (text) => {
  expect(repoNameIn(text)).toBeUndefined();
});

test('one repository has one key', () => {
  expect(repoKey('Acme/Web')).toBe(repoKey('acme/WEB'));
});
