// svc worktree create | list | remove. They work with git on this machine; the daemon is not needed.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { Failure } from '../../errors.ts';
import type { RemovedWorktree } from '../../orchestrate/worktrees/remove.ts';
import type { Report } from '../../orchestrate/worktrees/steps.ts';
import type { Worktrees } from '../../orchestrate/worktrees/worktrees.ts';
import { openWorktrees } from '../open-worktrees.ts';
import { openSession, requireConfig } from '../session.ts';
import { AnswerIsNo, paint, printJson, printTable, type Terminal } from '../terminal.ts';
import { verb, verbGroup } from '../verb.ts';

export function worktreeVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'worktree',
    {
      summary: 'Worktrees of this project: one for each ticket, set up and trusted',
      example: 'svc worktree create ABC-12',
    },
    [createVerb(terminal), listVerb(terminal), removeVerb(terminal)],
  );
}

function createVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('create', {
    summary: 'Make a worktree with its branch, run its setup, print its path',
    example: ['svc worktree create ABC-12', 'cd "$(svc worktree create feat/login --base develop)"'],
  })
    .argument('<name>', 'a ticket or a branch; a branch that is there is gone on with')
    .option('--base <branch>', 'where a new branch begins (default: main, else the default branch)')
    .option('--json', 'print JSON')
    .action(async (name, options) => {
      const worktrees = await open(terminal);
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

function listVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('list', {
    summary: 'The worktrees of this project, whole or half made',
    example: 'svc worktree list --json',
  })
    .option('--json', 'print JSON')
    .action(async (options) => {
      const list = await (await open(terminal)).list();
      if (options.json) return printJson(terminal, list);
      if (list.length === 0) return terminal.out('There are no worktrees.');
      const rows = list.map(({ name, branch, state, locked, path }) => [
        name,
        branch ?? '(no branch)',
        locked ? `${state}, locked` : state,
        path,
      ]);
      printTable(terminal, [['NAME', 'BRANCH', 'STATE', 'PATH'], ...rows]);
      for (const { name, state } of list)
        if (state.startsWith('partly'))
          terminal.err(`${name} is ${state}; clean it up: svc worktree remove ${name}`);
    });
}

function removeVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('remove', {
    summary:
      'Remove a worktree; refuses when work or unfiled findings would be lost; a bundle is kept for 30 days',
    example: ['svc worktree remove ABC-12', 'svc worktree remove ABC-12 --force'],
  })
    .argument('<name>', 'its name or its branch')
    .option('--force', 'also when work or findings would be lost; they are kept in the bundle')
    .option('--json', 'print JSON')
    .action(async (name, options) => {
      const worktrees = await open(terminal);
      const removed = await orInterrupted(terminal, () =>
        worktrees.remove(name, {
          force: options.force,
          currentFolder: terminal.folder,
          report: progressTo(terminal),
          signal: terminal.interrupted,
        }),
      );
      if (options.json) printJson(terminal, removed);
      else sayRemoved(terminal, removed);
    });
}

async function open(terminal: Terminal): Promise<Worktrees> {
  const session = openSession(terminal);
  const { config, files } = await requireConfig(terminal, session);
  return openWorktrees(terminal, session, { folder: files.project.folder ?? terminal.folder, config });
}

/** Progress goes to the error stream, so that the path can be used by a script. */
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

function sayRemoved(terminal: Terminal, removed: RemovedWorktree): void {
  const { name, branch, branchRemoved, kept, restore } = removed;
  const branchWords =
    branch === null ? '' : branchRemoved ? ` with its branch ${branch}` : `; its branch ${branch} stays`;
  terminal.out(`${name} is removed${branchWords}.`);
  if (kept === null) return;
  terminal.out(`Kept for 30 days: ${kept}`);
  if (restore.length === 0) return;
  terminal.out('To get it back, in the repository:');
  for (const command of restore) terminal.out(`  ${command}`);
}

/** Ctrl-C is the person's own wish: what happened is said, and no error. */
async function orInterrupted<T>(terminal: Terminal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || !terminal.interrupted.aborted) throw error;
    terminal.err(error.message);
    throw new AnswerIsNo();
  }
}
