import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { testTerminal } from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../cli/run.ts';

function worktree(config: object = {}) {
  const terminal = testTerminal();
  const root = join(terminal.home, 'web');
  mkdirSync(join(root, '.svc'), { recursive: true });
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, '.svc', 'config.json'), JSON.stringify({ svc: config }));
  const git = (...args: string[]) => {
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
    return execFileSync('git', [...identity, '-C', root, ...args], { encoding: 'utf8', stdio: 'pipe' });
  };
  git('init', '-q', '-b', 'kim/eng-12-login');
  const run = async (folder: string, ...words: string[]) => {
    const before = terminal.printed().length;
    const code = await runCommandLine({ ...terminal, folder }, words);
    if (code !== 0) throw new Error(terminal.complained());
    return terminal.printed().slice(before).trim();
  };
  const attributes = async (folder = join(root, 'src'), ...words: string[]): Promise<unknown> =>
    JSON.parse(await run(folder, 'telemetry', 'attributes', '--json', ...words));
  return { root, git, run, attributes };
}

test('the project is the argument, else the configuration’s', async () => {
  const named = worktree({ projectKey: 'web-key', project: { name: 'Web', ticketPrefix: 'ENG' } });
  expect(await named.attributes(undefined, '--project', 'mine')).toMatchObject({ project: 'mine' });
  expect(await named.attributes()).toMatchObject({ project: 'Web' });
  expect(await worktree({ projectKey: 'web-key' }).attributes()).toMatchObject({ project: 'web-key' });
  expect(await worktree().attributes()).not.toHaveProperty('project');
});

test('hostname and git.branch are those of here', async () => {
  const { root, git, attributes } = worktree();
  expect(await attributes()).toEqual({
    hostname: hostname(),
    'git.branch': 'kim/eng-12-login',
    'ticket.key': 'ENG-12',
  });
  git('commit', '-q', '--allow-empty', '-m', 'first');
  git('worktree', 'add', '-q', '-b', 'ops-3', join(root, '..', 'other'));
  expect(await attributes(join(root, '..', 'other'))).toMatchObject({ 'git.branch': 'ops-3' });
  git('checkout', '-q', '--detach');
  expect(await attributes()).not.toHaveProperty('git.branch');
});

test('the ticket key comes from the branch, else from currentTicket; the run from the context', async () => {
  const { git, root, run, attributes } = worktree({ project: { ticketPrefix: 'ENG' } });
  await run(root, 'context', 'set-ticket', 'ENG-7');
  await run(root, 'context', 'set-orchestration', 'spring clean');
  expect(await attributes()).toMatchObject({ 'ticket.key': 'ENG-12', 'svc.orchestration': 'spring clean' });
  git('checkout', '-q', '-b', 'main');
  expect(await attributes()).toMatchObject({ 'git.branch': 'main', 'ticket.key': 'ENG-7' });
  expect(await run(root, 'telemetry', 'attributes', '--project', 'a,b')).toBe(
    `project=a%2Cb,hostname=${encodeURIComponent(hostname())},git.branch=main,ticket.key=ENG-7,svc.orchestration=spring%20clean`,
  );
});
