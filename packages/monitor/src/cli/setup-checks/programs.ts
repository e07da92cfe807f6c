// The programs that the work is done with: git with a repository around the project, gh with its login.
import { codehostProblemWords, passesByItself, type SetupFinding } from '@svc/core';
import { runCommand } from '@svc/lib/process';
import { checkGhLogin } from '../../codehost/gh-login.ts';
import { createGit, gitWorktrees } from '../../orchestrate/worktrees/git.ts';
import type { Terminal } from '../terminal.ts';

const GIT_TIMEOUT_MS = 10_000;

export type Repository = {
  /** The root of the worktree around the folder. */
  root: string;
  /** The root of the main worktree, which is the same one unless this is one beside it; undefined in a bare one. */
  main: string | undefined;
};

export type CheckedRepository = { finding: SetupFinding; repository: Repository | undefined };

export async function checkRepository(terminal: Terminal): Promise<CheckedRepository> {
  const check = 'git';
  const { folder, environment, interrupted: signal } = terminal;
  const git = createGit({ run: runCommand, environment, secretNames: [] });
  const top = await git.ask(folder, ['rev-parse', '--show-toplevel'], { timeoutMs: GIT_TIMEOUT_MS, signal });
  const root = top.stdout.replace(/\n$/, '');
  if (top.exitCode !== 0 || root === '') {
    const found = `${folder} is not in the working tree of a git repository`;
    return {
      finding: { check, level: 'error', found, remedy: 'Run this in a checkout, or make one: git init' },
      repository: undefined,
    };
  }
  const [main] = await gitWorktrees(git, folder);
  const isMain = main?.path === root;
  return {
    finding: { check, level: 'ok', found: isMain ? root : `${root}, a worktree of ${main?.path ?? 'git'}` },
    repository: { root, main: main === undefined || main.bare ? undefined : main.path },
  };
}

export async function checkCodehost(terminal: Terminal): Promise<SetupFinding> {
  const check = 'code-host';
  const login = await checkGhLogin({
    environment: terminal.environment,
    run: runCommand,
    now: () => terminal.now().getTime(),
    signal: terminal.interrupted,
  });
  if (login.ok) {
    const { account } = login.value;
    return { check, level: 'ok', found: `gh is logged in${account === undefined ? '' : `: ${account}`}` };
  }
  const { why, remedy } = codehostProblemWords(login.problem);
  // Whether it is logged in cannot be told now; nobody needs to stop for that.
  if (passesByItself(login.problem))
    return { check, level: 'warning', found: why, remedy: 'Look again later: gh auth status' };
  return { check, level: 'error', found: why, remedy };
}
