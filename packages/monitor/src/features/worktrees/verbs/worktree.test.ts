// The verbs in a terminal, with real git.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { codehostForTest, ghEnvironment, testTerminal, testToken, testTracker, until } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../../../cli/run.ts';
import { testRepository } from '../testing/repository.ts';

function project(svc: object = {}, more: Record<string, string> = {}) {
  const terminal = testTerminal();
  const repository = testRepository(terminal.home);
  const { folder, write, git } = repository;
  write(folder, '.svc/config.json', JSON.stringify({ svc: { projectKey: 'demo', ...svc } }));
  git(folder, 'add', '.');
  git(folder, 'commit', '-q', '-m', 'config');
  git(folder, 'push', '-q');
  const environment = { ...repository.environment, HOME: terminal.home, ...more };
  const open = (at = folder, interrupted = terminal.interrupted) => {
    const fresh = { ...testTerminal(), home: terminal.home, folder: at, environment, interrupted };
    const svcRun = (...words: string[]) => runCommandLine(fresh, words);
    return { ...fresh, svc: svcRun, run: (...words: string[]) => svcRun('worktree', ...words) };
  };
  const { home } = terminal;
  return { ...repository, home, open, base: join(home, 'svc', 'wt', 'demo') };
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
    /ABC-1 was removed with its branch ABC-1\.\nKept for 30 days: .*\.kept\/ABC-1-.*\.bundle/,
  );
  expect(forced.printed()).toContain('git stash apply FETCH_HEAD');
  const empty = open();
  expect(await empty.run('list')).toBe(0);
  expect(empty.printed()).toBe('No worktrees yet. Create one: svc worktree create <ticket>');
});

test('from inside a worktree, the folder is the same', async () => {
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
  expect(failing.complained()).toMatch(/exit code 9[^]*Last lines of its output:\n {2}broken\nFull output: /);
  expect(branches()).toEqual(['main']);
  expect(files()).toEqual([]);

  const slow = project({ worktree: { setup: ['echo begun; sleep 600'] } });
  const interrupt = new AbortController();
  const stopped = slow.open(slow.folder, interrupt.signal);
  const creating = stopped.run('create', 'ABC-1');
  await until(() => stopped.complained().includes('  begun'));
  interrupt.abort();
  expect(await creating).toBe(130);
  expect(stopped.complained()).toContain('The worktree was removed again.');
  expect(slow.branches()).toEqual(['main']);
});

const NASTY = "x/$(touch${IFS}canary)`touch${IFS}canary`\"'';touch${IFS}canary;&|<>!#";

test('variables are filled into setup and hooks, in any quotes and in the environment; a branch is never executed', async () => {
  const values =
    '"${BRANCH_NAME}" ${BRANCH_NAME} \'${BRANCH_NAME}\' a\'b${TICKET_ID}c\'"d${TICKET_ID}" "$BRANCH_NAME"';
  const says = (file: string): string => `printf '%s\\n' ${values} > "$HOME/${file}"`;
  const { open, home, folder, base } = project({
    worktree: {
      setup: [says('setup'), "echo '${DIRECTORY} ${PROFILE} ${REPO_NAME} ${WORKTREE_PATH}' > .git-less"],
    },
    orchestration: { hooks: { setup: [says('hook')], teardown: [says('teardown')] } },
    repository: { org: 'acme', name: 'shop' },
    thoughts: { directory: 'apps/web', profile: 'work' },
  });
  const create = open();
  expect(await create.run('create', '--', NASTY), create.complained()).toBe(0);
  const path = create.printed();
  expect(readFileSync(join(path, '.git-less'), 'utf8')).toBe(`apps/web work shop ${path}\n`);
  const remove = open();
  expect(await remove.run('remove', '--force', '--', NASTY), remove.complained()).toBe(0);
  const wanted = [NASTY, NASTY, NASTY, `ab${NASTY}cd${NASTY}`, NASTY, ''].join('\n');
  for (const file of ['setup', 'hook', 'teardown'])
    expect(readFileSync(join(home, file), 'utf8'), file).toBe(wanted);
  for (const place of [home, folder, base]) expect(readdirSync(place)).not.toContain('canary');
});

describe('the default setup links the context store', () => {
  const thoughts = { user: 'kim', directory: 'apps/web', profile: 'work' };

  test('as thoughts/ with the shared and the own part, in all worktrees at once, and it stays when one is removed', async () => {
    const { open, home, git } = project({ thoughts });
    expect(await open().run('create', 'ABC-1')).toBe(0);
    expect(await open().run('create', 'ABC-2')).toBe(0);
    const [one, two] = ['ABC-1', 'ABC-2'].map((name) => join(home, 'svc/wt/demo', name, 'thoughts'));
    const store = join(home, 'svc/thoughts/work/apps/web');
    expect(readdirSync(one ?? '')).toEqual(['.gitignore', 'kim', 'shared']);
    for (const part of ['shared', 'kim']) expect(readlinkSync(join(one ?? '', part))).toBe(join(store, part));
    expect(readdirSync(join(one ?? '', 'shared'))).toEqual(['handoffs', 'plans', 'prs', 'research']);
    writeFileSync(join(one ?? '', 'shared/plans/login.md'), 'plan');
    writeFileSync(join(one ?? '', 'kim/notes.md'), 'mine');
    expect(readFileSync(join(two ?? '', 'shared/plans/login.md'), 'utf8')).toBe('plan');
    expect(git(join(one ?? '', '..'), 'status', '--porcelain')).toBe('');
    expect(await open().run('remove', 'ABC-1')).toBe(0);
    expect(readFileSync(join(two ?? '', 'kim/notes.md'), 'utf8')).toBe('mine');
    // What is beside the links is work like any other.
    writeFileSync(join(two ?? '', 'loose.md'), 'x');
    expect(await open().run('remove', 'ABC-2')).toBe(1);
  });

  test('what only the main worktree has is added to the store, and nothing there is replaced', async () => {
    const { open, home, folder, write } = project({ repository: { org: 'acme', name: 'web' } });
    const store = join(home, 'svc/thoughts/acme/web/shared');
    write(folder, 'thoughts/shared/handoffs/run-1.md', 'from the sweep');
    write(folder, 'thoughts/shared/plans/login.md', 'older');
    write(store, 'plans/login.md', 'newer');
    expect(await open().run('create', 'ABC-1')).toBe(0);
    const shared = join(home, 'svc/wt/demo/ABC-1/thoughts/shared');
    expect(readFileSync(join(shared, 'handoffs/run-1.md'), 'utf8')).toBe('from the sweep');
    expect(readFileSync(join(shared, 'plans/login.md'), 'utf8')).toBe('newer');
    expect(readFileSync(join(folder, 'thoughts/shared/plans/login.md'), 'utf8')).toBe('older');
    expect(readdirSync(join(shared, '..'))).toEqual(['.gitignore', 'shared']);
  });

  test('a thoughts/ of the repository stays as it is, with a place for handoffs', async () => {
    const { open, home, folder, commit, git } = project();
    commit(folder, 'thoughts/shared/plans/login.md', 'committed');
    expect(await open().run('create', 'ABC-1')).toBe(0);
    const shared = join(home, 'svc/wt/demo/ABC-1/thoughts/shared');
    expect(lstatSync(shared).isSymbolicLink()).toBe(false);
    expect(existsSync(join(shared, 'handoffs'))).toBe(true);
    expect(git(shared, 'status', '--porcelain')).toBe('');
  });

  test('not where commands are configured; a name that is no folder is refused before anything is left', async () => {
    const { open, home } = project({ worktree: { setup: [] } });
    expect(await open().run('create', 'ABC-1')).toBe(0);
    expect(existsSync(join(home, 'svc/wt/demo/ABC-1/thoughts'))).toBe(false);
    const wrong = project({ thoughts: { user: '../../etc' } });
    const terminal = wrong.open();
    expect(await terminal.run('create', 'ABC-1')).toBe(4);
    expect(terminal.complained()).toContain('svc config set svc.thoughts.user <name>');
    expect(wrong.branches()).toEqual(['main']);
  });
});

describe('unfiled findings', () => {
  const svc = { project: { ticketPrefix: 'ABC' }, tracker: { teamKey: 'ABC' }, worktree: { setup: [] } };

  async function withFinding(feedback: object, token = 'lin_api_x') {
    const tracker = await testTracker('lin_api_x');
    tracker.cloud.addTeam({ key: 'ABC' });
    const codehost = await codehostForTest();
    const gh = ghEnvironment(codehost, testToken, process.env['PATH']);
    const made = project({ ...svc, feedback }, { ...gh, SVC_TRACKER_API_URL: tracker.url });
    const secrets = join(made.home, '.config/svc/config-demo.json');
    mkdirSync(join(secrets, '..'), { recursive: true });
    const consentFor = ['tracker:ABC', 'codehost:svc-dev/svc'];
    writeFileSync(join(secrets, '../config.json'), JSON.stringify({ svc: { feedback: { consentFor } } }), {
      mode: 0o600,
    });
    writeFileSync(secrets, JSON.stringify({ svc: { tracker: { apiToken: token, teamKey: 'ABC' } } }), {
      mode: 0o600,
    });
    const create = made.open();
    expect(await create.run('create', 'ABC-1'), create.complained()).toBe(0);
    const path = join(made.base, 'ABC-1');
    const note = (title: string) => made.open(path).svc('add-finding', '--title', title, '--body', 'Seen.');
    expect(await note('Slow tests')).toBe(0);
    return { ...made, tracker, path, queue: join(path, '.svc/findings/current.jsonl'), note };
  }

  test('without consent: refused, named, and kept; with force in the bundle, to be brought back', async () => {
    const { open, queue, tracker, folder, git } = await withFinding({});
    const text = readFileSync(queue, 'utf8');
    const refused = open();
    expect(await refused.run('remove', 'ABC-1')).toBe(1);
    expect(refused.complained()).toContain('1 unfiled finding:\n  Slow tests');
    expect(refused.complained()).toMatch(/cd \S+\/ABC-1 && svc findings drain/);
    expect(refused.complained()).not.toContain('Commit and push');
    expect(readFileSync(queue, 'utf8')).toBe(text);

    const forced = open();
    expect(await forced.run('remove', 'ABC-1', '--force')).toBe(0);
    expect(tracker.calls()).toEqual([]);
    const bundle = /Kept for 30 days: (\S+)/.exec(forced.printed())?.[1] ?? '';
    const ref = git(folder, 'bundle', 'list-heads', bundle)
      .split(/\s+/)
      .find((word) => /uncommitted/.test(word));
    git(folder, 'fetch', '-q', bundle, ref ?? '');
    expect(`${git(folder, 'show', 'FETCH_HEAD:.svc/findings/current.jsonl')}\n`).toBe(text);
  });

  test('with consent: filed, and the worktree is removed', async () => {
    const { open, path, tracker, note } = await withFinding({ autoFile: true });
    await note('Slow builds');
    const removed = open();
    expect(await removed.run('remove', 'ABC-1'), removed.complained()).toBe(0);
    expect(tracker.cloud.issues.map(({ title }) => title)).toEqual(['Slow tests', 'Slow builds']);
    expect(removed.complained()).toContain('findings filed: 2');
    expect(existsSync(path)).toBe(false);
  });

  test('with consent, and the destination rejects them: refused with the reason; unreadable findings are kept too', async () => {
    const { open, queue, tracker } = await withFinding({ autoFile: true }, 'wrong');
    const refused = open();
    expect(await refused.run('remove', 'ABC-1')).toBe(1);
    expect(refused.complained()).toMatch(/findings not filed: 1 \(.*API token/);
    expect(existsSync(queue)).toBe(true);
    expect(tracker.cloud.issues).toEqual([]);
    writeFileSync(queue, 'not JSON\n');
    const unreadable = open();
    expect(await unreadable.run('remove', 'ABC-1')).toBe(1);
    expect(unreadable.complained()).toContain('1 unfiled finding:\n  not JSON');
  });
});

test('a folder that is no worktree is never removed', async () => {
  const { open, base } = project();
  mkdirSync(join(base, 'mine'), { recursive: true });
  writeFileSync(join(base, 'mine', 'x'), 'x');
  const terminal = open();
  expect(await terminal.run('remove', 'mine', '--force')).toBe(1);
  expect(terminal.complained()).toContain('There is no worktree "mine"');
});
