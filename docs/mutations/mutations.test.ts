// The rows stay applicable: their tests match the conformance table, their code matches the source.
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { conformanceById, hasTest } from './conformance-rows.ts';
import {
  applyMutation,
  chooseMutations,
  type Mutation,
  parseMutations,
  readMutations,
  testsOf,
} from './mutations.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const rows = conformanceById(read('docs/conformance.md'));
const mutations = readMutations();

test.each(mutations)('$row has its test, and can be broken', (mutation) => {
  const references = rows.get(mutation.row)?.heldBy.map(({ file, fragment }) => `${file} › ${fragment}`);
  if (!/^(?:SPEED|ATTENTION|TRUTH|TEAM|WORDS|HEALTH|LINEAR|GITHUB)-/.test(mutation.row))
    expect(references).toContain(mutation.test ?? references?.[0]);
  const text = read(mutation.file);
  const broken = applyMutation(text, mutation);
  expect(broken).toMatchObject({ ok: true });
  if (!broken.ok) return;
  expect(broken.text).not.toBe(text);
  // A file that does not load proves nothing.
  if (!mutation.file.endsWith('.sh')) expect(stripTypeScriptTypes(broken.text)).not.toBe('');
});

test.each([
  ['as it stands', 'is refused without a key', true],
  ['made of a table', 'a link to nothing is refused: here', true],
  ['the end of such a name', 'to nothing is refused', true],
  ['with the placeholder', '%s is refused', true],
  ['what the table has not', 'a folder is refused: here', false],
  ['a test that is gone', 'is accepted', false],
  ['nothing', '', false],
])('a named test must exist: %s', (_, fragment, expected) => {
  const text = `test('is refused without a key', check);
test.each([['a link to nothing'], ['a pipe']])('%s is refused: here', check);`;
  expect(hasTest(text, fragment)).toBe(expected);
});

test('a row occurs once, and never breaks a test file', () => {
  expect(new Set(mutations.map(({ row }) => row)).size).toBe(mutations.length);
  expect(mutations.filter(({ file }) => /\.test\.ts$|\/testing\/|\/testkit\//.test(file))).toEqual([]);
});

test('every row has a mutation, unless it only explains what something is for', () => {
  const broken = new Set(mutations.map(({ row }) => row));
  const without = [...rows.values()].filter(({ id }) => !broken.has(id));
  expect(without.filter(({ isMeaning }) => !isMeaning).map(({ id }) => id)).toEqual([]);
  expect([...rows.values()].filter(({ id, isMeaning }) => isMeaning && broken.has(id))).toEqual([]);
});

test.each([
  ['LINEAR', /\/tracker\/(?:(?:io\/)?linear\/|api-answer)/],
  ['GITHUB', /\/tracker\/(?:io\/)?github[-/]/],
])('every row of the tracker contract is broken in the code of %s', (provider, code) => {
  const contract = 'packages/monitor/src/features/tracker/contract.test.ts';
  const promises = [...read(contract).matchAll(/promise: '(.+)'/g)].map(([, promise]) => promise);
  const broken = mutations.filter(({ row }) => row.startsWith(`${provider}-`));
  expect(promises.length).toBeGreaterThan(0);
  expect(broken.map(({ test: named }) => named)).toEqual(
    promises.map((promise) => `${contract} › ${promise}`),
  );
  expect(broken.filter(({ file }) => !code.test(file))).toEqual([]);
});

test('a file of rows has a paragraph for each mutation', () => {
  const text = `# A subject.

EVT-8 'a/b.ts'
test a/b.test.ts › is refused
named %s is refused
- if (bad)
-
-   return;
+ if (good) return;

EVT-9 'a/c.ts'
- check(line);
`;
  expect(parseMutations(text)).toEqual([
    {
      row: 'EVT-8',
      file: 'a/b.ts',
      test: 'a/b.test.ts › is refused',
      named: '%s is refused',
      find: 'if (bad)\n\n  return;',
      replace: 'if (good) return;',
    },
    { row: 'EVT-9', file: 'a/c.ts', find: 'check(line);', replace: '' },
  ]);
});

test.each([
  ["evt-8 'a/b.ts'\n- x", 'expected a row and its file'],
  ['EVT-8 a/b.ts\n- x', 'expected a row and its file'],
  ["EVT-8 'a/b.ts'\n- x\nname y", 'EVT-8: expected test, named, - or +; found: name y'],
  ["EVT-8 'a/b.ts'\n+ x", 'EVT-8: no text to replace'],
])('an invalid paragraph is rejected: %j', (text, why) => {
  expect(() => parseMutations(text)).toThrow(why);
});

const mutation: Mutation = {
  row: 'AUTH-1',
  test: 'a/b.test.ts › refused (401): %s',
  file: 'a/b.ts',
  find: 'return 401;',
  replace: 'return 200;',
};

test('the tests are those whose name has the fragment; a table’s placeholders match anything', () => {
  const { file, names } = testsOf(mutation, new Map());
  expect(file).toBe('a/b.test.ts');
  expect(names.test('who gets in refused (401): no signature')).toBe(true);
  expect(names.test('refused 401: no signature')).toBe(false);
  expect(testsOf({ ...mutation, named: 'door%sis shut' }, new Map()).names.test('door > is shut')).toBe(true);
});

test('the text is replaced if it occurs exactly once', () => {
  const text = 'if (bad) return 200;\nreturn 204;';
  expect(applyMutation('if (bad) return 401;\nreturn 204;', mutation)).toEqual({ ok: true, text });
  expect(applyMutation('return 204;', mutation)).toEqual({
    ok: false,
    why: 'the text to replace occurs 0 times in a/b.ts',
  });
  expect(applyMutation('return 401;return 401;', mutation)).toMatchObject({ ok: false });
});

const ten = Array.from({ length: 10 }, (_, index): Mutation => ({ ...mutation, row: `CFG-${index}` }));
const chosen = (wish: Parameters<typeof chooseMutations>[1]) =>
  chooseMutations(ten, wish).map(({ row }) => row);

test('all are chosen by default', () => {
  expect(chosen({})).toHaveLength(10);
});

test('rows are chosen by their names; one without a mutation is an error', () => {
  expect(chosen({ rows: 'cfg-7, CFG-2' })).toEqual(['CFG-2', 'CFG-7']);
  expect(chosen({ rows: 'cfg' })).toHaveLength(10);
  expect(() => chosen({ rows: 'CFG-2,CFG-99' })).toThrow('no mutation for CFG-99');
});

test('a count is spread over all; a larger count is all', () => {
  expect(chosen({ count: '3' })).toEqual(['CFG-0', 'CFG-4', 'CFG-7']);
  for (let count = 1; count <= 10; count += 1) expect(chosen({ count: String(count) })).toHaveLength(count);
  expect(chosen({ count: '99' })).toHaveLength(10);
  for (const count of ['0', '1.5', 'x', ''])
    expect(() => chosen({ count })).toThrow('expected a whole number');
});
