// svc worktree create | list | remove. They use git on this machine and need no daemon.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { openSession, requireConfig } from '../../../cli/kit/session.ts';
import { AnswerIsNo, paint, printJson, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { verb, verbGroup } from '../../../cli/kit/verb.ts';
import { refuseNewerData } from '../../../kernel/disk/data-format.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { RemovedWorktree } from '../io/remove.ts';
import type { Report } from '../io/steps.ts';
import type { Worktrees } from '../io/worktrees.ts';
import { openWorktrees } from './open-worktrees.ts';

type Open = () => Promise<Worktrees>;

export function worktreeVerbs(terminal: Terminal): CommandUnknownOpts {
  const open = async (): Promise<Worktrees> => {
    const session = openSession(terminal);
    refuseNewerData(session.machine.dataDir);
    const { config, files } = await requireConfig(terminal, session);
    return openWorktrees(terminal, session, { folder: files.project.folder ?? terminal.folder, config });
  };
  return verbGroup(
    'worktree',
    {
      summary: 'Create, list and remove worktrees for tickets',
      example: 'svc worktree create ABC-12',
    },
    [createVerb(terminal, open), listVerb(terminal, open), removeVerb(terminal, open)],
  );
}

function createVerb(terminal: Terminal, open: Open): CommandUnknownOpts {
  return verb('create', {
    summary: 'Create a worktree, run its setup and print its path',
    example: ['svc worktree create ABC-12', 'cd "$(svc worktree create feat/login --base develop)"'],
  })
    .argument('<name>', 'ticket or branch; an existing branch is checked out')
    .option('--base <branch>', 'start of a new branch (default: main or the default branch)')
    .option('--json', 'print JSON')
    .action(async (name, options) => {
      const worktrees = await open();
      const made = await orInterrupted(terminal, () =>
        worktrees.create(name, {
          base: options.base,
          report: progressTo(terminal),
          signal: terminal.interrupted,
        }),
      );
      if (options.json) printJson(terminal, made);
      else terminal.out(made.path);
    });
}

function listVerb(terminal: Terminal, open: Open): CommandUnknownOpts {
  return verb('list', {
    summary: 'List the worktrees of this project, even incomplete ones',
    example: 'svc worktree list --json',
  })
    .option('--json', 'print JSON')
    .action(async (options) => {
      const list = await (await open()).list();
      if (options.json) return printJson(terminal, list);
      if (list.length === 0)
        return terminal.out('No worktrees yet. Create one: svc worktree create <ticket>');
      const rows = list.map(({ name, branch, state, locked, path }) => [
        name,
        branch ?? '(no branch)',
        locked ? `${state}, locked` : state,
        path,
      ]);
      printTable(terminal, [['NAME', 'BRANCH', 'STATE', 'PATH'], ...rows]);
      for (const { name, state } of list)
        if (state.startsWith('partly'))
          terminal.err(`${name} is ${state}. Clean it up: svc worktree remove ${name}`);
    });
}

function removeVerb(terminal: Terminal, open: Open): CommandUnknownOpts {
  return verb('remove', {
    summary: 'Remove a worktree, unless work would be lost',
    details: 'Unfiled findings count as work. A bundle of the branch is kept for 30 days.',
    example: ['svc worktree remove ABC-12', 'svc worktree remove ABC-12 --force'],
  })
    .argument('<name>', 'name or branch of the worktree')
    .option('--force', 'remove it anyway; the bundle keeps the work')
    .option('--json', 'print JSON')
    .action(async (name, options) => {
      const worktrees = await open();
      const removed = await orInterrupted(terminal, () =>
        worktrees.remove(name, {
          force: options.force,
          currentFolder: terminal.folder,
          report: progressTo(terminal),
          signal: terminal.interrupted,
        }),
      );
      if (options.json) printJson(terminal, removed);
      else printRemoved(terminal, removed);
    });
}

/** Progress goes to standard error, so a script can use the printed path. */
function progressTo(terminal: Terminal): Report {
  return (news) => {
    switch (news.kind) {
      case 'step':
        return terminal.err(
          `${paint(terminal, 'bold', `[${news.number}/${news.of}]`)} ${news.title} (${news.from})`,
        );
      case 'output':
        return terminal.err(`  ${news.line}`);
      case 'step-done':
        return terminal.err(`[${news.number}/${news.of}] done in ${(news.ms / 1000).toFixed(1)} s`);
      case 'warning':
        return terminal.err(`warning: ${news.message}`);
    }
  };
}

function printRemoved(terminal: Terminal, removed: RemovedWorktree): void {
  const { name, branch, branchRemoved, kept, restore } = removed;
  const branchText =
    branch === null ? '' : branchRemoved ? ` with its branch ${branch}` : `; its branch ${branch} stays`;
  terminal.out(`${name} was removed${branchText}.`);
  if (kept === null) return;
  terminal.out(`Kept for 30 days: ${kept}`);
  if (restore.length === 0) return;
  terminal.out('To restore it, run in the repository:');
  for (const command of restore) terminal.out(`  ${command}`);
}

/** Ctrl-C is not an error: what happened is printed. */
async function orInterrupted<T>(terminal: Terminal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || !terminal.interrupted.aborted) throw error;
    terminal.err(error.message);
    throw new AnswerIsNo();
  }
}
