import { expect, test } from 'vitest';
import { linkTo, screenAt, searchReader } from './link-to.ts';

const time = Date.parse('2026-11-09T13:05:07.400Z');

test.each([
  [{}, '/runs'],
  [{ repo: 'acme/web', q: '' }, '/runs?repo=acme%2Fweb'],
  [{ at: '412' }, '/runs?at=412'],
  [{ at: '2h', q: 'log in' }, '/runs?q=log+in&at=2026-11-09T13%3A05%3A07Z'],
])('%j', (search, address) => expect(linkTo('/runs', search, time)).toBe(address));

test('a screen reads its own search parameters, and every screen reads the time', () => {
  const read = searchReader('/attention');
  expect(read({ id: 'a/b', at: 412, item: 'x', tab: {} })).toEqual({ id: 'a/b', at: '412' });
});

test('the URL of a screen; a parameter that the screen does not know does not compile', () => {
  expect(screenAt('/tickets/$ticket', { run: 'run-1' }, { ticket: 'A/1' })).toEqual({
    to: '/tickets/A%2F1',
    search: { run: 'run-1' },
  });
  // @ts-expect-error The attention screen reads `id`.
  screenAt('/attention', { item: 'a/b' });
});
