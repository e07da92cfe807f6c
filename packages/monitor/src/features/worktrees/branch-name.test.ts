import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { branchNameProblem, worktreeNameOf } from './branch-name.ts';

test.each(['ABC-12', 'x', 'a.b_c-d', '42', 'v1.2.3'])('%s is its own folder', (name) => {
  expect(worktreeNameOf(name)).toEqual({ ok: true, branch: name, folder: name });
});

test.each([
  ['feat/login', /^feat-login-[0-9a-f]{10}$/],
  ['feat/$(touch${IFS}x)', /^feat-touch-IFS-x-[0-9a-f]{10}$/],
  ["it's", /^it-s-[0-9a-f]{10}$/],
  ['a"b', /^a-b-[0-9a-f]{10}$/],
  ['größe', /^gr-e-[0-9a-f]{10}$/],
  ['日本', /^branch-[0-9a-f]{10}$/],
  ['_x', /^x-[0-9a-f]{10}$/],
  ['a'.repeat(200), /^a{80}-[0-9a-f]{10}$/],
])('%s is a branch with its own folder', (branch, folder) => {
  const name = worktreeNameOf(branch);
  expect(name).toMatchObject({ ok: true, branch });
  expect(name.ok && name.folder).toMatch(folder);
});

describe('refused', () => {
  test.each([
    ['', 'empty'],
    ['a'.repeat(201), 'at most 200'],
    ['-rf', 'dash'],
    ['--force', 'dash'],
    ['a b', 'space'],
    ['a\u00a0b', 'space'],
    ['a\nb', 'line break'],
    ['a\u0000b', 'control'],
    ['a\u001b[31m', 'control'],
    ['a\u2028b', 'line break'],
    ['a\u202eb', 'invisible'],
    ['a\ud800', 'invisible'],
    ['..', 'two dots'],
    ['../../etc', 'two dots'],
    ['a..b', 'two dots'],
    ['/etc/passwd', 'empty part'],
    ['a//b', 'empty part'],
    ['a/', 'empty part'],
    ['a.', 'ends with a dot'],
    ['.git', 'starts with a dot'],
    ['a/.b', 'starts with a dot'],
    ['a.lock', '.lock'],
    ['a.lock/b', '.lock'],
    ['a~1', 'characters'],
    ['a^', 'characters'],
    ['a:b', 'characters'],
    ['a?', 'characters'],
    ['a*', 'characters'],
    ['a[b', 'characters'],
    ['a\\b', 'characters'],
    ['a@{1}', '@{'],
    ['@', 'special meaning'],
    ['HEAD', 'special meaning'],
    ['refs/heads/a', 'special meaning'],
    ['0123456789'.repeat(4), 'commit id'],
    ['日'.repeat(100), 'bytes'],
  ])('%j', (text, why) => {
    expect(branchNameProblem(text)).toContain(why);
    expect(worktreeNameOf(text)).toEqual({ ok: false, problem: branchNameProblem(text) });
  });
});

test('for any text, a folder is one plain segment, and two branches never share one', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.string());
  const isKept = fc.property(text, text, (one, other) => {
    const [first, second] = [worktreeNameOf(one), worktreeNameOf(other)];
    const isPlain = !first.ok || /^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/.test(first.folder);
    return isPlain && (!first.ok || !second.ok || one === other || first.folder !== second.folder);
  });
  expect(() => fc.assert(isKept, { numRuns: 500 })).not.toThrow();
});
