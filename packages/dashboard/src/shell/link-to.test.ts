import { expect, test } from 'vitest';
import { linkTo } from './link-to.ts';

const time = Date.parse('2026-11-09T13:05:07.400Z');

test.each([
  [{}, '/runs'],
  [{ repo: 'acme/web', q: '' }, '/runs?repo=acme%2Fweb'],
  [{ at: '412' }, '/runs?at=412'],
  [{ at: '2h', q: 'log in' }, '/runs?q=log+in&at=2026-11-09T13%3A05%3A07Z'],
])('%j', (search, address) => expect(linkTo('/runs', search, time)).toBe(address));
