// The verbs in a terminal, with real git.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testTerminal, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { testRepository } from '../../orchestrate/worktrees/testing/repository.ts';
import { runCommandLine } from '../run.ts';

function project(svc: object = {}) {
  const terminal = testTerminal();
  const repository = testRepository(terminal.home);
  const { folder, write, git } = repository;
  write(folder, '.svc/config.json', JSON.stringify({ svc: { projectKey: 'demo', ...svc } }));
  git(folder, 'add', '.');
  git(folder, 'commit', '-q', '-m', 'config');
  git(folder, 'push', '-q');
  const environment = { ...repository.environment, HOME: terminal.home };
  const open = (at = folder, interrupted = terminal.interrupted) => {
    const fresh = { ...testTerminal(), home: terminal.home, folder: at, environment, interrupted };
    return { ...fresh, run: (...words: string[]) => runCommandLine(fresh, ['worktree', ...words]) };
  };
  return { ...repository, open, base: join(terminal.home, 'svc', 'wt', 'demo') };
}

test('create prints the path alone on standard output and the steps on the other; list; remove', async () => {
  const { open, base, write } = project({ worktree: { setup: ['echo hello'] } });
  const create = open();
  expect(await create.run('create', 'ABC-1')).toBe(0);
  const path = join(base, 'ABC-1');
  expect(create.printed()).toBe(path);
  expect(create.complained()).toMatch(
    /^\[1\/1\] echo hello \(svc\.worktree\.setup\)\n {2}hello\n\[1\/1\] done in [\d.]+ s$/,
  );

  const list = open();
  expect(await list.run('list')).toBe(0);
  expect(list.printed()).toMatch(/^NAME +BRANCH +STATE +PATH\nABC-1 +ABC-1 +ready +\//);
  const json = open();
  expect(await json.run('list', '--json')).toBe(0);
  expect(JSON.parse(json.printed())).toMatchObject([
    { name: 'ABC-1', state: 'ready', made: { base: 'main' } },
  ]);

  write(path, 'mine.txt', 'x');
  const refused = open();
  expect(await refused.run('remove', 'ABC-1')).toBe(1);
  expect(refused.complained()).toMatch(/1 uncommitted change:\n {2}mine\.txt\n[^]*--force/);
  const here = open(path);
  expect(await here.run('remove', 'ABC-1', '--force')).toBe(1);
  expect(here.complained()).toContain('current folder');
  const forced = open();
  expect(await forced.run('remove', 'ABC-1', '--force')).toBe(0);
  expect(forced.printed()).toMatch(
    /ABC-1 is removed with its branch ABC-1\.\nKept for 30 days: .*\.kept\/ABC-1-.*\.bundle/,
  );
  expect(forced.printed()).toContain('git stash apply FETCH_HEAD');
  const empty = open();
  expect(await empty.run('list')).toBe(0);
  expect(empty.printed()).toBe('There are no worktrees.');
});

test('asked from a worktree, the place is the same', async () => {
  const { open, base } = project({ orchestration: { worktreeDir: '../trees' } });
  const first = open();
  expect(await first.run('create', 'ABC-1')).toBe(0);
  const path = join(base, '..', '..', '..', 'trees', 'ABC-1');
  expect(first.printed()).toBe(path);
  const second = open(path);
  expect(await second.run('create', 'ABC-2', '--json')).toBe(0);
  expect(JSON.parse(second.printed())).toMatchObject({ path: join(path, '..', 'ABC-2') });
});

test('a hostile name is usage, a failing setup 6 with all that is needed, Ctrl-C 130 with nothing left', async () => {
  const { open, files, branches } = project({ worktree: { setup: ['echo broken; exit 9'] } });
  const hostile = open();
  expect(await hostile.run('create', '../x')).toBe(2);
  expect(hostile.complained()).toContain('two dots');
  const failing = open();
  expect(await failing.run('create', 'ABC-1')).toBe(6);
  expect(failing.complained()).toMatch(/exit code 9[^]*Its last lines:\n {2}broken\nAll of its output: /);
  expect(branches()).toEqual(['main']);
  expect(files()).toEqual([]);

  const slow = project({ worktree: { setup: ['echo begun; sleep 600'] } });
  const interrupt = new AbortController();
  const stopped = slow.open(slow.folder, interrupt.signal);
  const creating = stopped.run('create', 'ABC-1');
  await until(() => stopped.complained().includes('  begun'));
  interrupt.abort();
  expect(await creating).toBe(130);
  expect(stopped.complained()).toContain('Nothing of the worktree is left.');
  expect(slow.branches()).toEqual(['main']);
});

test('a folder that is no worktree is never removed', async () => {
  const { open, base } = project();
  mkdirSync(join(base, 'mine'), { recursive: true });
  writeFileSync(join(base, 'mine', 'x'), 'x');
  const terminal = open();
  expect(await terminal.run('remove', 'mine', '--force')).toBe(1);
  expect(terminal.complained()).toContain('There is no worktree "mine"');
});
