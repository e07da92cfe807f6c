import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { testTerminal } from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../cli/run.ts';

function worktree(name = 'ABC-12-login', now?: () => Date) {
  const terminal = testTerminal();
  const root = join(terminal.home, name);
  mkdirSync(join(root, '.git'), { recursive: true });
  mkdirSync(join(root, 'src'));
  const inside = { ...terminal, folder: join(root, 'src'), ...(now && { now }) };
  const file = join(root, '.svc', '.workflow-context.json');
  return {
    terminal,
    file,
    run: (...words: string[]) => runCommandLine(inside, ['context', ...words]),
    content: () => JSON.parse(readFileSync(file, 'utf8')),
  };
}

test('init creates the file at the root of the worktree, with the ticket of its name, and keeps an existing one', async () => {
  const { run, content, file } = worktree();
  expect(await run('init')).toBe(0);
  expect(existsSync(file)).toBe(true);
  expect(content()).toEqual({
    lastUpdated: '2026-01-02T03:04:05.678Z',
    currentTicket: 'ABC-12',
    orchestration: null,
    mostRecentDocument: null,
    workflow: { research: [], plans: [], handoffs: [], prs: [] },
  });
  writeFileSync(file, JSON.stringify({ ...content(), currentTicket: 'ABC-99', mine: true }));
  expect(await run('init')).toBe(0);
  expect(content()).toMatchObject({ currentTicket: 'ABC-99', mine: true });
});

test('outside a project and a git work tree it works, and the folder is named once', async () => {
  const terminal = testTerminal();
  const folder = join(terminal.home, 'plain');
  mkdirSync(folder);
  const run = (...words: string[]) => runCommandLine({ ...terminal, folder }, ['context', ...words]);
  expect(await run('init')).toBe(0);
  const warning = `warning: ${folder} is not in a project or a git work tree. This creates ${folder}/.svc there.`;
  expect(terminal.complained()).toContain(warning);
  expect(await run('set-ticket', 'ABC-7')).toBe(0);
  expect(terminal.complained().split('warning:')).toHaveLength(2);
  const { run: inWorktree, terminal: other } = worktree();
  expect(await inWorktree('init')).toBe(0);
  expect(other.complained()).toBe('');
});

test('a file that is a link out of the checkout is neither read nor written', async () => {
  const { run, content, file, terminal } = worktree();
  await run('init');
  const outside = join(terminal.home, 'context.json');
  writeFileSync(outside, JSON.stringify({ ...content(), currentTicket: 'SECRET-1' }));
  const before = readFileSync(outside, 'utf8');
  rmSync(file);
  symlinkSync(outside, file);
  for (const words of [['init'], ['ticket'], ['set-ticket', 'ABC-7']])
    expect(await run(...words)).not.toBe(0);
  expect(readFileSync(outside, 'utf8')).toBe(before);
  expect(terminal.complained()).toContain('is a link to a file outside');
  expect(terminal.printed()).not.toContain('SECRET-1');

  rmSync(file);
  const list = join(dirname(file), '.gitignore');
  rmSync(list);
  symlinkSync(join(terminal.home, 'made-by-the-repository'), list);
  expect(await run('set-ticket', 'ABC-7')).toBe(0);
  expect(existsSync(join(terminal.home, 'made-by-the-repository'))).toBe(false);
});

test('a worktree that is not named for a ticket has none', async () => {
  const { run, content } = worktree('login-page');
  await run('init');
  expect(content().currentTicket).toBeNull();
});

test('set-ticket and set-orchestration; null is null, not the string; unknown fields survive', async () => {
  const { run, content, file } = worktree();
  await run('set-ticket', 'ABC-7');
  writeFileSync(file, JSON.stringify({ ...content(), mine: { kept: 1 } }));
  await run('set-orchestration', 'spring');
  expect(content()).toMatchObject({ currentTicket: 'ABC-7', orchestration: 'spring', mine: { kept: 1 } });
  await run('set-ticket', 'null');
  await run('set-orchestration', 'null');
  expect(content()).toMatchObject({ currentTicket: null, orchestration: null });
});

test('every change is the last update', async () => {
  let minute = 0;
  const now = () => new Date(Date.UTC(2026, 0, 2, 3, minute));
  const { run, content } = worktree('ABC-12-login', now);
  for (const words of [
    ['init'],
    ['set-ticket', 'ABC-7'],
    ['set-orchestration', 'spring'],
    ['add', 'plans', 'a.md', 'ABC-7'],
  ]) {
    minute += 1;
    await run(...words);
    expect(content().lastUpdated).toBe(now().toISOString());
  }
});

test('add puts the newest first with path, created and ticket, and remembers the most recent', async () => {
  const { run, content } = worktree();
  await run('add', 'plans', 'plans/a.md', 'ABC-1');
  await run('add', 'plans', 'plans/b.md', 'null');
  await run('add', 'research', 'research/c.md', 'ABC-2');
  const created = '2026-01-02T03:04:05.678Z';
  expect(content().workflow.plans).toEqual([
    { path: 'plans/b.md', created, ticket: null },
    { path: 'plans/a.md', created, ticket: 'ABC-1' },
  ]);
  expect(content().mostRecentDocument).toEqual({
    type: 'research',
    path: 'research/c.md',
    created,
    ticket: 'ABC-2',
  });
  expect(content().currentTicket).toBe('ABC-2');
});

test('adding a path again moves it to the front', async () => {
  const { run, content } = worktree();
  for (const path of ['a.md', 'b.md', 'a.md']) await run('add', 'prs', path, 'ABC-1');
  expect(content().workflow.prs.map((entry: { path: string }) => entry.path)).toEqual(['a.md', 'b.md']);
});

test('recent, most-recent and ticket answer from the file; no answer is exit 1', async () => {
  const { run, terminal } = worktree();
  expect(await run('recent', 'plans')).toBe(1);
  expect(await run('most-recent')).toBe(1);
  expect(await run('ticket', 'ABC-1')).toBe(1);
  await run('add', 'plans', 'other.md', 'ABC-2');
  await run('add', 'plans', 'a.md', 'ABC-1');
  await run('add', 'handoffs', 'b.md', 'ABC-1');
  await run('add', 'prs', 'none.md', 'null');
  const before = terminal.printed().length;
  expect(await run('recent', 'plans')).toBe(0);
  expect(await run('most-recent')).toBe(0);
  expect(terminal.printed().slice(before).trim().split('\n')).toEqual(['a.md', 'none.md']);
  const length = terminal.printed().length;
  expect(await run('ticket', 'ABC-1')).toBe(0);
  expect(JSON.parse(terminal.printed().slice(length))).toEqual({
    research: [],
    plans: [expect.objectContaining({ path: 'a.md', ticket: 'ABC-1' })],
    handoffs: [expect.objectContaining({ path: 'b.md', ticket: 'ABC-1' })],
    prs: [],
  });
  expect(await run('ticket', 'ABC-3')).toBe(1);
});

test('the commands are the seven of svc context', async () => {
  const { run, terminal } = worktree();
  expect(await run('--help')).toBe(0);
  const [, listed = ''] = terminal.printed().split(/^Commands:$/m);
  expect([...listed.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name)).toEqual([
    'init',
    'set-ticket',
    'set-orchestration',
    'add',
    'recent',
    'most-recent',
    'ticket',
    'help',
  ]);
});

test('an unknown type is an error that lists the types', async () => {
  const { run, terminal } = worktree();
  expect(await run('add', 'plan', 'a.md', 'ABC-1')).toBe(2);
  expect(await run('recent', 'plan')).toBe(2);
  expect(terminal.complained()).toContain('research, plans, handoffs, prs');
});

test('a corrupt file is named and not overwritten', async () => {
  const { run, terminal, file } = worktree();
  await run('init');
  writeFileSync(file, '{"currentTicket": 5}');
  expect(await run('set-ticket', 'ABC-1')).toBe(6);
  expect(terminal.complained()).toContain('is not a workflow context');
  expect(readFileSync(file, 'utf8')).toBe('{"currentTicket": 5}');
});

test('twenty additions at once are twenty entries', async () => {
  const { run, content } = worktree();
  await Promise.all(Array.from({ length: 20 }, (_, index) => run('add', 'research', `${index}.md`, 'ABC-1')));
  expect(content().workflow.research).toHaveLength(20);
});

test('git never sees the context file', async () => {
  const { run, file } = worktree();
  const root = join(file, '..', '..');
  rmSync(join(root, '.git'), { recursive: true });
  execFileSync('git', ['init', '--quiet', root]);
  await run('init');
  expect(execFileSync('git', ['-C', root, 'status', '--porcelain'], { encoding: 'utf8' })).toBe('');
});
