import type { BoardCard } from 'svc-monitor/src/features/board/board-columns.ts';
import { describe, expect, test } from 'vitest';
import { type BoardFilter, isFiltering, matches, type Project } from './board-filter.ts';

const shop: Project = {
  id: 'shop',
  key: 'shop',
  name: 'Shop',
  folder: '/home/kim/shop',
  repo: 'acme/shop',
  ticketPrefix: 'SHO',
};
const worker = { orchestrator: 'run-1', ticket: 'ENG-1', repo: 'acme/web', branch: 'eng-1-login' };
const pullRequest = {
  repo: 'acme/web',
  name: 'acme/web#12',
  ticket: 'ENG-1',
  title: 'Log in',
  author: 'mira',
  branch: null,
};
const card = (given: object): BoardCard =>
  ({ worker, pullRequest, ticket: { title: 'Passkeys' }, ...given }) as never;
const planned = new Map([['run-1', { plan: { project: shop.folder } }]]) as never;
const unplanned = new Map() as never;

describe('a card is shown', () => {
  test.each<[string, BoardFilter, boolean]>([
    ['without a filter', {}, true],
    ['by its run', { run: 'run-1' }, true],
    ['not by another run', { run: 'run-2' }, false],
    ['by its repository, ignoring case', { repo: 'Acme/Web' }, true],
    ['not by another repository', { repo: 'acme/api' }, false],
    ['by its ticket', { text: 'eng-1' }, true],
    ['by its title', { text: 'passkey' }, true],
    ['by the title of its pull request', { text: 'log in' }, true],
    ['by its author', { text: 'Mira' }, true],
    ['not by another text', { text: 'logout' }, false],
    ['by all filters at once', { run: 'run-1', repo: 'acme/web', text: 'pass' }, true],
    ['not when one filter does not match', { run: 'run-1', repo: 'acme/api', text: 'pass' }, false],
  ])('%s', (_what, filter, isShown) => expect(matches(card({}), filter, unplanned)).toBe(isShown));

  test('a pull request without a worker belongs to no run', () => {
    expect(matches(card({ worker: null }), { run: 'run-1' }, unplanned)).toBe(false);
    expect(matches(card({ worker: null }), { repo: 'acme/web' }, unplanned)).toBe(true);
  });
});

describe('a card belongs to a project', () => {
  const isOf = (given: object, runs: never): boolean => matches(card(given), { project: shop }, runs);
  test('by the plan of its run, regardless of its repository', () => expect(isOf({}, planned)).toBe(true));
  test('not without a matching run, repository or ticket', () => expect(isOf({}, unplanned)).toBe(false));
  test('by its repository', () =>
    expect(isOf({ worker: { ...worker, repo: 'Acme/Shop' } }, unplanned)).toBe(true));
  test('by its ticket', () => expect(isOf({ worker: { ...worker, ticket: 'sho-4' } }, unplanned)).toBe(true));
  test('a longer ticket prefix does not match', () =>
    expect(isOf({ worker: { ...worker, ticket: 'SHOP-4' } }, unplanned)).toBe(false));
});

test('an empty text filters nothing', () => {
  expect(isFiltering({ text: '' })).toBe(false);
  expect(isFiltering({ run: 'run-1' })).toBe(true);
});
