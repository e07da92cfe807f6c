// Real git. Everything that is removed can be restored from its bundle.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { type TestRepository, testRepository } from '../testing/repository.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Runs the printed commands, as a person would. */
function restore({ git, environment }: TestRepository, folder: string, commands: string[]): void {
  expect(environment['GIT_DIR']).toBeUndefined();
  for (const command of commands) {
    const words = [...command.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(
      ([, quoted, word]) => quoted?.replaceAll(String.raw`'\''`, "'") ?? word ?? '',
    );
    const cut = words.indexOf('&&');
    for (const part of cut < 0 ? [words] : [words.slice(0, cut), words.slice(cut + 1)])
      git(folder, ...part.slice(1));
  }
}

describe('nothing to lose: it is removed, with its branch, and a bundle is kept', () => {
  test('untouched', async () => {
    const repository = testRepository(temporaryFolder());
    const { worktrees, branches, base, files, git, folder, home } = repository;
    const { path, start } = await worktrees().create('ABC-1');
    const removed = await worktrees().remove('ABC-1');
    expect(removed).toMatchObject({ name: 'ABC-1', branchRemoved: true, branch: 'ABC-1' });
    expect(existsSync(path)).toBe(false);
    expect(branches()).toEqual(['main']);
    expect(files()).toEqual([removed.kept?.slice(base.length + 1)]);
    expect(git(folder, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(git(folder, 'for-each-ref', 'refs/svc')).toBe('');
    expect(JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8'))).toEqual({ projects: {} });
    restore(repository, folder, removed.restore);
    expect(git(folder, 'rev-parse', 'ABC-1')).toBe(start);
  });

  test.each([
    ['pushed', ({ git }: TestRepository, path: string) => git(path, 'push', '-q', 'origin', 'HEAD')],
    [
      'merged into the base',
      ({ git, folder }: TestRepository) => git(folder, 'merge', '-q', '--no-ff', '-m', 'merge', 'ABC-1'),
    ],
    [
      'merged as one commit (squash), with more after it',
      ({ git, folder, commit }: TestRepository) => {
        git(folder, 'merge', '-q', '--squash', 'ABC-1');
        git(folder, 'commit', '-q', '-m', 'squashed');
        commit(folder, 'later.txt', 'later');
        git(folder, 'push', '-q', 'origin', 'main');
      },
    ],
  ])('%s', async (_, make) => {
    const repository = testRepository(temporaryFolder());
    const { worktrees, branches, commit } = repository;
    const { path } = await worktrees().create('ABC-1');
    commit(path, 'a.txt', 'a');
    commit(path, 'b.txt', 'b');
    make(repository, path);
    await worktrees().remove('ABC-1');
    expect(branches()).toEqual(['main']);
  });

  test('ignored files and the context file do not count, nor does a read-only folder', async () => {
    const { worktrees, write, folder, commit } = testRepository(temporaryFolder());
    commit(folder, '.svc/.gitignore', 'findings/\n');
    const { path } = await worktrees().create('ABC-1');
    write(path, 'node_modules/a/b.js', 'x');
    chmodSync(join(path, 'node_modules', 'a'), 0o500);
    await worktrees().remove('ABC-1');
    expect(existsSync(path)).toBe(false);
  });

  test('a branch that existed before stays', async () => {
    const { worktrees, branches, git, folder } = testRepository(temporaryFolder());
    git(folder, 'branch', 'mine');
    await worktrees().create('mine');
    expect(await worktrees().remove('mine')).toMatchObject({ branchRemoved: false, restore: [] });
    expect(branches()).toEqual(['main', 'mine']);
  });
});

describe('something to lose: refused, with a list, and after force it can be restored', () => {
  test('uncommitted: changed, staged, deleted and untracked files, byte for byte', async () => {
    const repository = testRepository(temporaryFolder());
    const { worktrees, write, git, folder, read, branches, commit } = repository;
    commit(folder, 'gone.txt', 'gone');
    commit(folder, 'crlf.txt', 'a\n');
    git(folder, 'config', 'core.autocrlf', 'input');
    const { path } = await worktrees().create('ABC-1');
    write(path, 'README.md', 'changed\n');
    write(path, 'crlf.txt', 'a\r\nb\r\n');
    write(path, 'staged.txt', 'staged first\n');
    git(path, 'add', 'staged.txt');
    write(path, 'staged.txt', 'staged, then changed\n');
    write(path, 'new folder/with "quotes"\n.txt', 'untracked');
    writeFileSync(join(path, 'binary'), Buffer.from([0, 255, 13, 10, 128]));
    rmSync(join(path, 'gone.txt'));
    await expect(worktrees().remove('ABC-1')).rejects.toMatchObject({
      code: 'not-allowed-now',
      exitCode: 1,
      message: expect.stringMatching(/6 uncommitted changes:[^]*README\.md/),
      remedy: expect.stringContaining('--force'),
    });
    expect(git(path, 'stash', 'list')).toBe('');
    const removed = await worktrees().remove('ABC-1', { force: true });
    expect(removed.losses.uncommitted.count).toBe(6);
    expect(branches()).toEqual(['main']);
    expect(git(folder, 'stash', 'list')).toBe('');
    git(folder, 'config', '--unset', 'core.autocrlf');
    git(folder, 'fetch', '-q', removed.kept ?? '', 'refs/heads/ABC-1:refs/heads/ABC-1');
    const { path: again } = await worktrees().create('ABC-1');
    restore(repository, again, removed.restore.slice(1));
    expect(read(again, 'README.md')).toBe('changed\n');
    expect(read(again, 'crlf.txt')).toBe('a\r\nb\r\n');
    expect(read(again, 'staged.txt')).toBe('staged, then changed\n');
    expect(read(again, 'new folder/with "quotes"\n.txt')).toBe('untracked');
    expect([...readFileSync(join(again, 'binary'))]).toEqual([0, 255, 13, 10, 128]);
    expect(existsSync(join(again, 'gone.txt'))).toBe(false);
    expect(git(again, 'show', 'FETCH_HEAD^2:staged.txt')).toBe('staged first');
  });

  test.each([true, false])('commits that are nowhere else (with a remote: %s)', async (remote) => {
    const repository = testRepository(temporaryFolder());
    const { worktrees, commit, git, folder, branches } = repository;
    if (!remote) git(folder, 'remote', 'remove', 'origin');
    const { path } = await worktrees().create('ABC-1');
    commit(path, 'a.txt', 'a');
    git(path, 'commit', '-q', '--allow-empty', '-m', 'nothing in it');
    const tip = git(path, 'rev-parse', 'HEAD');
    await expect(worktrees().remove('ABC-1')).rejects.toThrow(
      /2 commits that are on no remote[^]*change a\.txt/,
    );
    const { restore: commands } = await worktrees().remove('ABC-1', { force: true });
    expect(branches()).toEqual(['main']);
    restore(repository, folder, commands);
    expect(git(folder, 'rev-parse', 'ABC-1')).toBe(tip);
  });

  test('only a commit without content', async () => {
    const { worktrees, git } = testRepository(temporaryFolder());
    const { path } = await worktrees().create('ABC-1');
    git(path, 'commit', '-q', '--allow-empty', '-m', 'nothing in it');
    await expect(worktrees().remove('ABC-1')).rejects.toThrow('1 commit that is');
  });

  test('a stash made on the branch, and only that; it also stays where it was', async () => {
    const repository = testRepository(temporaryFolder());
    const { worktrees, write, git, folder, read } = repository;
    write(folder, 'README.md', 'of main\n');
    git(folder, 'stash', 'push', '-q', '-m', 'mine');
    const { path } = await worktrees().create('feat/x');
    write(path, 'README.md', 'stashed\n');
    git(path, 'stash', 'push', '-q');
    await expect(worktrees().remove('feat/x')).rejects.toThrow(/1 stash made[^]*WIP on feat\/x/);
    const removed = await worktrees().remove('feat/x', { force: true });
    expect(git(folder, 'stash', 'list').split('\n')).toHaveLength(2);
    git(folder, 'stash', 'clear');
    restore(repository, folder, removed.restore);
    expect(read(folder, 'README.md')).toBe('stashed\n');
  });

  test('during a rebase: the commits that are on no branch are kept too', async () => {
    const repository = testRepository(temporaryFolder());
    const { worktrees, commit, git, folder } = repository;
    const { path } = await worktrees().create('ABC-1');
    commit(path, 'a.txt', 'a');
    commit(path, 'README.md', 'theirs\n');
    commit(folder, 'README.md', 'ours\n');
    expect(() => git(path, 'rebase', '-q', 'main')).toThrow('conflict');
    const head = git(path, 'rev-parse', 'HEAD');
    const tip = git(folder, 'rev-parse', 'ABC-1');
    await expect(worktrees().remove('ABC-1')).rejects.toThrow('a rebase in progress');
    const removed = await worktrees().remove('ABC-1', { force: true });
    const heads = git(folder, 'bundle', 'list-heads', removed.kept ?? '');
    expect(heads).toContain(`${tip} refs/heads/ABC-1`);
    expect(heads).toContain(`${head} refs/svc/kept/`);
    expect(heads).toMatch(/uncommitted/);
    expect(git(folder, 'for-each-ref', 'refs/svc')).toBe('');
  });

  test('a nested repository cannot be kept: refused even with force', async () => {
    const { worktrees, git, commit } = testRepository(temporaryFolder());
    const { path } = await worktrees().create('ABC-1');
    mkdirSync(join(path, 'deep', 'inner'), { recursive: true });
    git(join(path, 'deep', 'inner'), 'init', '-q');
    commit(join(path, 'deep', 'inner'), 'precious.txt', 'x');
    await expect(worktrees().remove('ABC-1', { force: true })).rejects.toThrow(
      /git repositories .*deep\/inner/,
    );
    expect(existsSync(join(path, 'deep', 'inner', 'precious.txt'))).toBe(true);
    expect(readdirSync(join(path, '..')).filter((name) => name.startsWith('.index'))).toEqual([]);
  });

  test('another branch was checked out in it: that one stays', async () => {
    const { worktrees, git, commit, branches } = testRepository(temporaryFolder());
    const { path } = await worktrees().create('ABC-1');
    git(path, 'checkout', '-q', '-b', 'other');
    commit(path, 'a.txt', 'a');
    await expect(worktrees().remove('ABC-1')).rejects.toThrow('1 commit that is');
    await worktrees().remove('ABC-1', { force: true });
    expect(branches()).toEqual(['main', 'other']);
  });
});

describe('refused, with or without force', () => {
  test('the main worktree, the current folder, a locked one, an unknown one', async () => {
    const { worktrees, git, folder } = testRepository(temporaryFolder());
    const config = { orchestration: { worktreeDir: '..' } };
    await expect(worktrees({ config }).remove('web', { force: true })).rejects.toThrow('main worktree');
    const { path } = await worktrees().create('ABC-1');
    const inside = { force: true, currentFolder: join(path, '.svc') };
    await expect(worktrees().remove('ABC-1', inside)).rejects.toThrow('current folder');
    git(folder, 'worktree', 'lock', '--reason', 'in use', path);
    expect(await worktrees().list()).toMatchObject([{ locked: true }]);
    await expect(worktrees().remove('ABC-1', { force: true })).rejects.toThrow('locked (in use)');
    await expect(worktrees().remove('ABC-2', { force: true })).rejects.toThrow('no worktree "ABC-2"');
    expect(existsSync(path)).toBe(true);
  });

  test('a worktree whose link to git is gone', async () => {
    const { worktrees, write } = testRepository(temporaryFolder(), {
      config: { orchestration: { worktreeDir: '.trees' } },
    });
    const { path } = await worktrees().create('ABC-1');
    rmSync(join(path, '.git'));
    write(path, 'mine.txt', 'x');
    await expect(worktrees().remove('ABC-1', { force: true })).rejects.toThrow('not a complete worktree');
    expect(existsSync(join(path, 'mine.txt'))).toBe(true);
  });
});

test('a folder that the user deleted: the rest is removed, the branch is kept in the bundle', async () => {
  const { worktrees, branches, git, folder } = testRepository(temporaryFolder());
  const { path } = await worktrees().create('ABC-1');
  rmSync(path, { recursive: true });
  expect(await worktrees().list()).toMatchObject([{ state: 'folder missing' }]);
  await expect(worktrees().create('ABC-1')).rejects.toThrow('its folder');
  expect((await worktrees().remove('ABC-1')).kept).not.toBeNull();
  expect(branches()).toEqual(['main']);
  expect(git(folder, 'worktree', 'list').split('\n')).toHaveLength(1);
});

test('a worktree created by hand in the base is listed and can be removed; its branch stays', async () => {
  const { worktrees, branches, git, folder, base } = testRepository(temporaryFolder());
  git(folder, 'worktree', 'add', '-q', '-b', 'hand', join(base, 'by-hand'));
  expect(await worktrees().list()).toMatchObject([
    { name: 'by-hand', branch: 'hand', state: 'ready', made: null },
  ]);
  git(folder, 'update-ref', 'refs/svc/kept/20200101T000000000Z-abcd/head', 'main');
  await worktrees().remove('hand');
  expect(git(folder, 'for-each-ref', 'refs/svc')).toBe('');
  expect(branches()).toEqual(['hand', 'main']);
});

describe('teardown hooks', () => {
  test('run before it is removed, with the variables', async () => {
    const root = temporaryFolder();
    const { worktrees } = testRepository(root);
    const hook = `test -f README.md && printf '%s' "$BRANCH_NAME $WORKTREE_PATH" > ${root}/seen`;
    const config = { orchestration: { hooks: { teardown: [hook] } } };
    const { path } = await worktrees({ config }).create('ABC-1');
    await worktrees({ config }).remove('ABC-1');
    expect(readFileSync(join(root, 'seen'), 'utf8')).toBe(`ABC-1 ${path}`);
  });

  test('one that fails stops the removal; with force it is a warning', async () => {
    const { worktrees } = testRepository(temporaryFolder());
    const config = { orchestration: { hooks: { teardown: ['echo no; exit 4'] } } };
    const { path } = await worktrees({ config }).create('ABC-1');
    await expect(worktrees({ config }).remove('ABC-1')).rejects.toThrow(/exit code 4[^]*was not removed/);
    expect(existsSync(path)).toBe(true);
    const news: string[] = [];
    await worktrees({ config }).remove('ABC-1', { force: true, report: ({ kind }) => news.push(kind) });
    expect(news).toContain('warning');
    expect(existsSync(path)).toBe(false);
  });

  test('files that a hook creates count', async () => {
    const { worktrees } = testRepository(temporaryFolder());
    const config = { orchestration: { hooks: { teardown: ['echo x > report.txt'] } } };
    await worktrees({ config }).create('ABC-1');
    await expect(worktrees({ config }).remove('ABC-1')).rejects.toThrow('report.txt');
  });
});

test('bundles are kept for 30 days', async () => {
  const { worktrees, files } = testRepository(temporaryFolder());
  const at = (days: number) => ({ now: () => new Date(Date.parse('2026-03-01T00:00:00Z') + days * DAY_MS) });
  for (const [name, day] of [
    ['ABC-1', 0],
    ['ABC-2', 1],
    ['ABC-3', 30],
  ] as const) {
    await worktrees().create(name);
    await worktrees(at(day)).remove(name);
  }
  expect(files().map((file) => file.slice(0, 11))).toEqual(['.kept/ABC-1', '.kept/ABC-2', '.kept/ABC-3']);
  await worktrees().create('ABC-4');
  await worktrees(at(30.5)).remove('ABC-4');
  expect(files().map((file) => file.slice(0, 11))).toEqual(['.kept/ABC-2', '.kept/ABC-3', '.kept/ABC-4']);
});
