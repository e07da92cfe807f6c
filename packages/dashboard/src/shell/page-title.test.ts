import { sampleAttention } from '@svc/testkit';
import { expect, test } from 'vitest';
import { pageTitle } from './page-title.ts';

const board = {
  tickets: new Map([['tid-1', { ticket: 'TID-1', title: 'Log in\u202E' }]]),
  runs: new Map([['run-1', { orchestrator: 'run-1', name: 'Winter' }]]),
} as never;

test.each([
  ['/', 'Board · svc'],
  ['/attention', 'Attention · svc'],
  ['/tickets/tid-1', 'tid-1 Log in[U+202E] · svc'],
  ['/tickets/TID-9', 'TID-9 · svc'],
  ['/runs/run-1', 'Winter · svc'],
  ['/archive/run%202', 'run 2 · svc'],
  ['/archive/%', '% · svc'],
  ['/nowhere', 'svc'],
])('%s has the title %s', (path, title) => expect(pageTitle(path, board, 0, undefined)).toBe(title));

test('a long title is cut', () => {
  const long = { ...(board as object), tickets: new Map([['a', { ticket: 'A-1', title: 'x'.repeat(500) }]]) };
  expect(pageTitle('/tickets/A-1', long as never, 0, undefined).length).toBeLessThan(70);
});

const asks = sampleAttention({ ticket: 'TID-140', reason: 'agent-needs-permission' });
const feed = sampleAttention({ orchestrator: null, ticket: null, feed: 'codehost' });

test.each([
  ['how many wait, and the ticket of the most urgent', '/', [asks, feed], '(2) TID-140 · svc'],
  ['the ticket of the page', '/tickets/TID-9', [asks], '(1) TID-9 · svc'],
  ['a feed', '/', [feed], '(1) codehost feed · svc'],
])('%s', (_what, path, waiting, title) =>
  expect(pageTitle(path, board, waiting.length, waiting[0])).toBe(title),
);
