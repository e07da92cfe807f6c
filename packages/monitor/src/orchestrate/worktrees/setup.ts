// The steps that set a new worktree up: the configured ones and nothing else, or what its files ask for.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, detectSetup, makefileNames, type SetupVariables } from '@svc/core';
import { filledStep } from './hooks.ts';
import type { Step } from './run-step.ts';

const LONGEST_MAKEFILE = 1024 * 1024;

export async function setupSteps(config: Config, variables: SetupVariables): Promise<Step[]> {
  const configured = config.svc.worktree.setup;
  if (configured !== undefined)
    return configured.map((command) => filledStep(command, 'svc.worktree.setup', variables));
  const worktree = variables.WORKTREE_PATH;
  const entries = await readdir(worktree, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  return detectSetup(files, await makefileText(worktree, files)).map((command) => ({
    title: [command.program, ...command.args].join(' '),
    from: command.because,
    program: command.program,
    args: command.args,
    remedy: command.remedy,
  }));
}

async function makefileText(worktree: string, files: readonly string[]): Promise<string | undefined> {
  const name = makefileNames.find((candidate) => files.includes(candidate));
  if (name === undefined) return undefined;
  const path = join(worktree, name);
  return (await stat(path)).size > LONGEST_MAKEFILE ? undefined : readFile(path, 'utf8');
}
