import { expect, it } from 'vitest';
import { fitsIn } from './fits-in.ts';

const ofCommand = (command: string) => ({ title: 'Run it', command, paths: [] });
const lines = (count: number) => Array.from({ length: count }, (_, line) => `line ${line}\n`).join('');
const edit = { title: 'Edit a.ts', command: null, paths: [] };

it.each([
  ['a command that is seen at a glance', ofCommand('npm test'), [], true],
  ['a command of many characters', ofCommand('x'.repeat(601)), [], false],
  ['a command whose end would have to be scrolled to', ofCommand(`${'\n'.repeat(12)}rm -rf /`), [], false],
  ['an edit of a few lines', edit, [{ path: 'a.ts', before: 'one\n', after: 'two\n' }], true],
  [
    'a small edit of a long file',
    edit,
    [{ path: 'a.ts', before: lines(500), after: `${lines(500)}more\n` }],
    true,
  ],
  ['a long edit', edit, [{ path: 'a.ts', before: '', after: lines(21) }], false],
  [
    'edits of two files',
    edit,
    ['a.ts', 'b.ts'].map((path) => ({ path, before: 'one\n', after: 'two\n' })),
    false,
  ],
  ['more paths than can be seen', { ...edit, paths: lines(12).trim().split('\n') }, [], false],
])('on a card: %s', (_what, request, diffs, fits) => {
  expect(fitsIn('card', request, diffs)).toBe(fits);
  expect(fitsIn('page', request, diffs)).toBe(true);
});

it('shows less in the notice than on a card', () => {
  const [half, whole] = [ofCommand('x'.repeat(290)), ofCommand('x'.repeat(301))];
  expect([half, whole].map((request) => fitsIn('notice', request, []))).toEqual([true, false]);
  expect([half, whole].map((request) => fitsIn('card', request, []))).toEqual([true, true]);
});
