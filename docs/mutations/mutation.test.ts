import { expect, test } from 'vitest';
import { applyMutation, type Mutation, testsOf } from './mutation.ts';

const mutation: Mutation = {
  row: 'AUTH-1',
  test: 'a/b.test.ts › refused (401): %s',
  file: 'a/b.ts',
  find: 'return 401;',
  replace: 'return 200;',
};

test('the tests are those whose name has the fragment; what a table fills in may be anything', () => {
  const { file, names } = testsOf(mutation, new Map());
  expect(file).toBe('a/b.test.ts');
  expect(names.test('who gets in refused (401): no signature')).toBe(true);
  expect(names.test('refused 401: no signature')).toBe(false);
  expect(testsOf({ ...mutation, named: 'door%sis shut' }, new Map()).names.test('door > is shut')).toBe(true);
});

test('the text is replaced where it stands once, and nowhere else', () => {
  const text = 'if (bad) return 200;\nreturn 204;';
  expect(applyMutation('if (bad) return 401;\nreturn 204;', mutation)).toEqual({ ok: true, text });
  expect(applyMutation('return 204;', mutation)).toEqual({
    ok: false,
    why: 'the text to replace occurs 0 times in a/b.ts',
  });
  expect(applyMutation('return 401;return 401;', mutation)).toMatchObject({ ok: false });
});
