// Real git, and settings and names as a hostile agent would leave them.
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { testRepository } from '../testing/repository.ts';

async function world(files: Record<string, string> = {}) {
  const root = temporaryFolder();
  const repository = testRepository(root);
  const { folder, git, write } = repository;
  for (const [path, text] of Object.entries(files)) write(folder, path, text);
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'files');
  const worktrees = repository.worktrees();
  const { path } = await worktrees.create('ABC-1');
  const changes = async (base = 'main') => {
    const { files: found, ...rest } = await worktrees.changes('ABC-1', base);
    const named = new Map(found.map((file) => [file.path, file]));
    return { ...rest, found, file: (name: string) => named.get(name) };
  };
  return {
    ...repository,
    root,
    path,
    changes,
    worktrees,
    put: (name: string, text: string | Buffer) => {
      mkdirSync(join(path, name, '..'), { recursive: true });
      writeFileSync(join(path, name), text);
    },
  };
}

test('committed, uncommitted and untracked files since the branch left the base', async () => {
  const start = {
    'src/a.ts': 'one\ntwo\nthree\n',
    'old name.txt': 'same\n'.repeat(20),
    'gone.txt': 'x\n',
    'p.bin': 'a\0b',
  };
  const { changes, put, path, git, commit, folder } = await world(start);
  const baseSha = git(folder, 'rev-parse', 'main');
  commit(path, 'src/b.ts', 'committed\n');
  commit(folder, 'README.md', 'main goes on\n');
  put('src/a.ts', 'one\n2\nthree\n');
  put('p.bin', Buffer.from([1, 0, 2]));
  put('new.bin', Buffer.from([1, 0, 2]));
  put('new.txt', 'no newline');
  put('node_modules/x.js', 'ignored');
  git(path, 'mv', 'old name.txt', 'new name.txt');
  rmSync(join(path, 'gone.txt'));
  const found = await changes();
  expect(found).toMatchObject({ worktree: path, base: 'main', baseSha, cut: false });
  expect(found.found.map(({ diff: _, cut, ...file }) => [...Object.values(file), cut])).toEqual([
    ['gone.txt', null, 'deleted', 0, 1, false],
    ['new name.txt', 'old name.txt', 'renamed', 0, 0, false],
    ['new.bin', null, 'untracked', null, null, false],
    ['new.txt', null, 'untracked', 1, 0, false],
    ['p.bin', null, 'modified', null, null, false],
    ['src/a.ts', null, 'modified', 1, 1, false],
    ['src/b.ts', null, 'added', 1, 0, false],
  ]);
  expect(found.file('src/a.ts')?.diff).toMatch(/@@ -1,3 \+1,3 @@\n one\n-two\n\+2\n three\n$/);
  expect(found.file('new.txt')?.diff).toMatch(
    /\n@@ -0,0 \+1,1 @@\n\+no newline\n\\ No newline at end of file\n$/,
  );
  expect(found.file('p.bin')?.diff).toBe('');
  expect(found.file('new.bin')?.diff).toBe('');
});

test('names with any character, and a name that looks like a diff', async () => {
  const names = ['a\nb', '--output=x', 'ü"q\\', 'sp ace', ':(top)x', 'x\n@@ -1 +1 @@\n+forged', '*'];
  const { changes, put, path, git } = await world({ 'tracked\n"x': 'one\n', 'README.md': 'one\n' });
  for (const name of names) put(name, 'text\n');
  put('tracked\n"x', 'two\n');
  put('README.md', 'return\rdiff --git a/x b/x\u2028diff --git \n');
  git(path, 'add', '--', 'sp ace', './ü"q\\');
  const found = await changes();
  for (const name of [...names, 'tracked\n"x', 'README.md'])
    expect(found.file(name), JSON.stringify(name)).toMatchObject({ added: 1, cut: false });
  expect(found.found).toHaveLength(names.length + 2);
  expect(
    found
      .file('x\n@@ -1 +1 @@\n+forged')
      ?.diff.split('\n')
      .filter((line) => line.startsWith('@@')),
  ).toEqual(['@@ -0,0 +1,1 @@']);
});

test('a link is its target, and nothing outside is read', async () => {
  const { changes, path, root, git } = await world({ 'file.txt': 'one\n' });
  writeFileSync(join(root, 'secret'), 'secret text');
  symlinkSync(join(root, 'secret'), join(path, 'link'));
  rmSync(join(path, 'file.txt'));
  symlinkSync('link', join(path, 'file.txt'));
  git(path, 'config', 'extensions.worktreeConfig', 'true');
  git(path, 'config', '--worktree', 'core.worktree', root);
  const found = await changes();
  expect(found.found.map(({ path: name }) => name)).toEqual(['file.txt', 'link']);
  expect(found.file('link')?.diff).toContain(`\n+${join(root, 'secret')}\n`);
  expect(found.file('file.txt')).toMatchObject({ status: 'modified', added: 1, removed: 1, cut: false });
  expect(JSON.stringify(found.found)).not.toContain('secret text');
});

test('no program that the repository names is run, and no attribute hides a change', async () => {
  const { changes, put, path, git, root } = await world({ 'app.ts': 'one\n' });
  const canary = join(root, 'ran');
  const script = join(root, 'run.sh');
  writeFileSync(script, `#!/bin/sh\necho "$0" >> ${canary}\ncat\n`, { mode: 0o700 });
  for (const key of [
    'diff.external',
    'diff.evil.command',
    'diff.evil.textconv',
    'filter.evil.clean',
    'filter.a=b.c.clean',
    'core.fsmonitor',
    'core.pager',
    'core.editor',
  ])
    git(path, 'config', key, script);
  git(path, 'config', 'filter.evil.required', 'true');
  git(path, 'config', 'core.hooksPath', join(root, 'hooks'));
  mkdirSync(join(root, 'hooks'));
  for (const hook of ['post-index-change', 'reference-transaction'])
    writeFileSync(join(root, 'hooks', hook), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o700 });
  for (const [key, value] of [
    ['diff.noprefix', 'true'],
    ['color.ui', 'always'],
    ['diff.renames', 'false'],
    ['core.quotePath', 'false'],
  ] as const)
    git(path, 'config', key, value);
  rmSync(canary, { force: true });
  put('app.ts', 'two\n');
  put('new.ts', 'three\n');
  put('.gitattributes', '*.ts filter=evil -diff\nnew.ts filter=a=b.c diff=evil\n');
  const found = await changes();
  expect(found.file('app.ts')?.diff).toMatch(/^diff --git a\/app.ts b\/app.ts\n(.*\n)+-one\n\+two\n$/);
  expect(found.file('new.ts')?.diff).toContain('\n+three\n');
  expect(existsSync(canary)).toBe(false);
});

test('bounds: files, a diff, all diffs', async () => {
  const { changes, put } = await world({ 'long.txt': 'one\n', 'z.txt': 'one\n' });
  put('long.txt', 'line of twenty bytes\n'.repeat(11_000));
  put('untracked-long.txt', 'line of twenty bytes\n'.repeat(11_000));
  put('z.txt', 'two\n');
  const one = await changes();
  expect(one.file('long.txt')).toMatchObject({ added: 11_000, removed: 1, diff: '', cut: true });
  expect(one.file('untracked-long.txt')).toMatchObject({ added: null, diff: '', cut: true });
  expect(one.file('z.txt')).toMatchObject({ added: 1, cut: false });
  for (let number = 100; number < 620; number += 1) put(`many/${number}.txt`, 'x'.repeat(4_000));
  const many = await changes();
  expect(many.cut).toBe(true);
  expect(many.found).toHaveLength(500);
  const size = many.found.reduce((sum, { diff }) => sum + diff.length, 0);
  expect(size).toBeLessThanOrEqual(1024 * 1024);
  expect(size).toBeGreaterThan(1000 * 1024);
  expect(many.found.filter(({ cut }) => cut).every(({ diff }) => diff === '')).toBe(true);
});

test('many tracked files whose diffs together are too long', async () => {
  const names = Array.from({ length: 20 }, (_, number) => `f${10 + number}.txt`);
  const { changes, put } = await world(Object.fromEntries(names.map((name) => [name, 'one\n'])));
  for (const name of names) put(name, 'y'.repeat(99_999));
  const { found } = await changes();
  expect(found.filter(({ cut }) => !cut).map(({ path }) => path)).toEqual(names.slice(0, 10));
  expect(found.every(({ added }) => added === 1)).toBe(true);
});

test.each([
  ['no such worktree', 'ABC-2', 'main', 'has no worktree now'],
  ['no such base', 'ABC-1', 'nowhere', 'There is no branch nowhere'],
])('refused: %s', async (_, name, base, words) => {
  const { worktrees } = await world();
  await expect(worktrees.changes(name, base)).rejects.toThrow(words);
});

test('files are found by a part of their path, those whose name begins with it first; hostile names are left out', async () => {
  const { worktrees, put, path, git } = await world({
    'src/berths/stay.ts': 'x',
    'test/extend-stay.test.ts': 'x',
    'stay/README.md': 'x',
    '.gitignore': 'dist\n',
  });
  put('src/Stays.ts', 'new');
  put('dist/stay.js', 'ignored');
  put('my stay.md', 'spaces');
  for (const name of ['stay\n@/etc/passwd', 'stay\u202egnp.ts', 'stay\u001b[2J', '-stay', '$(stay)'])
    put(name, 'x');
  rmSync(join(path, 'stay/README.md'));
  git(path, 'config', 'core.fsmonitor', 'touch canary');
  const find = async (query: string) => (await worktrees.files('ABC-1', query)).files;
  expect(await find('STAY')).toEqual([
    'src/Stays.ts',
    'src/berths/stay.ts',
    'stay/README.md',
    '-stay',
    '$(stay)',
    'my stay.md',
    'test/extend-stay.test.ts',
  ]);
  expect(await find('berths/s')).toEqual(['src/berths/stay.ts']);
  expect(await find('../')).toEqual([]);
  expect(await find('/etc')).toEqual([]);
  for (let at = 0; at < 60; at += 1) put(`many/${at}`, 'x');
  expect(await worktrees.files('ABC-1', 'many/')).toMatchObject({ cut: true });
  expect(await find('many/')).toHaveLength(50);
  await expect(worktrees.files('ABC-2', 'x')).rejects.toThrow('ABC-2 has no worktree now.');
  await expect(worktrees.files('../ABC-1', 'x')).rejects.toThrow('ABC-1');
});
