// Runs git for worktrees: no shell, bounded in time and output, never asking, never steered to another repository
// by a variable that happens to be set. Each argument from outside stands behind a `--` or is a whole ref. Git runs
// the repository's hooks, which see what git sees: none of our secrets.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Environment, withoutSecrets } from '@svc/core';
import type { CommandEnd, RunCommand } from '@svc/lib/process';
import { Failure } from '../../errors.ts';

const MAX_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
/** A checkout of a large repository, or a bundle of one. */
export const LONG_MS = 30 * 60_000;

type GitOptions = {
  timeoutMs?: number;
  environment?: Readonly<Record<string, string>>;
  input?: string;
  signal?: AbortSignal | undefined;
};
type GitAnswer = { exitCode: number; stdout: string; stderr: string };

export type Git = {
  /** What git answered, whatever its exit code. */
  ask: (folder: string, args: readonly string[], options?: GitOptions) => Promise<GitAnswer>;
  /** The standard output; a failure when git fails. */
  run: (folder: string, args: readonly string[], options?: GitOptions) => Promise<string>;
};

export function createGit({
  run,
  environment,
  secretNames,
}: {
  run: RunCommand;
  environment: Environment;
  /** Variables that hold secrets, besides those that always do. */
  secretNames: readonly string[];
}): Git {
  const own = silentGitEnvironment(environment, secretNames);

  const ask: Git['ask'] = (folder, args, options) =>
    askWhole(() => askOnce(folder, args, options), isHalfWritten);

  async function askOnce(
    folder: string,
    args: readonly string[],
    options: GitOptions = {},
  ): Promise<GitAnswer> {
    const end = await run({
      file: 'git',
      args: ['-C', folder, ...args],
      environment: { ...own, ...options.environment },
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      ...(options.input !== undefined && { input: options.input }),
      signal: options.signal,
    });
    if (end.ended === 'exit') return end;
    throw new Failure('file-unusable', `git ${args[0] ?? ''} in ${folder} ${endWords(end)}.`, remedyOf(end));
  }

  return {
    ask,
    async run(folder, args, options) {
      const { exitCode, stdout, stderr } = await ask(folder, args, options);
      if (exitCode === 0) return stdout;
      throw new Failure(
        'file-unusable',
        `git ${args.slice(0, 2).join(' ')} in ${folder} failed (${exitCode}): ${lastLines(stderr || stdout)}`,
      );
    },
  };
}

/** The lines of an answer whose records end with a line break. */
export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function endWords(end: Exclude<CommandEnd, { ended: 'exit' }>): string {
  switch (end.ended) {
    case 'not-started':
      return `could not be started (${end.reason})`;
    case 'timeout':
      return 'took too long';
    case 'too-large':
      return 'answered more than can be read';
    case 'stopped':
      return 'was stopped';
  }
}

function remedyOf(end: CommandEnd): string | undefined {
  return end.ended === 'not-started' && end.reason === 'ENOENT' ? 'Install git.' : undefined;
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' ').slice(0, 600);
}

/** `git rev-parse --local-env-vars`: they say which repository, index or settings are meant. */
const local =
  /^GIT_(?:ALTERNATE_OBJECT_DIRECTORIES|CONFIG|CONFIG_PARAMETERS|CONFIG_COUNT|OBJECT_DIRECTORY|DIR|WORK_TREE|IMPLICIT_WORK_TREE|GRAFT_FILE|INDEX_FILE|NO_REPLACE_OBJECTS|REPLACE_REF_BASE|PREFIX|SHALLOW_FILE|COMMON_DIR|NAMESPACE|INTERNAL_SUPER_PREFIX|QUARANTINE_PATH)$/;

export function gitEnvironment(
  environment: Environment,
  secretNames: readonly string[],
): Record<string, string> {
  const entries = Object.entries(withoutSecrets(environment, secretNames));
  return Object.fromEntries(entries.filter(([name]) => !local.test(name)));
}

/** For git as we run it ourselves: in words that we know, never asking. */
export function silentGitEnvironment(
  environment: Environment,
  secretNames: readonly string[],
): Record<string, string> {
  const never = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'false' };
  return { ...gitEnvironment(environment, secretNames), ...never };
}

// Git reads what it knows of all worktrees for nearly everything, also of one that another git is just writing down;
// it then gives up. That is over in a moment, and the same question is asked again.

const TIMES = 40;
const PAUSE_MS = 50;
const halfWritten = /\bworktrees\/[^/\s]+\/(?:commondir|gitdir)\b/;

export function isHalfWritten(answer: { exitCode: number; stderr: string }): boolean {
  return answer.exitCode !== 0 && halfWritten.test(answer.stderr);
}

/** `ask` must be right to repeat: it did nothing, or says anew what is left to do. */
export async function askWhole<Answer>(
  ask: () => Promise<Answer>,
  isWorthAnother: (answer: Answer) => boolean,
  pauseMs = PAUSE_MS,
): Promise<Answer> {
  for (let left = TIMES; ; left -= 1) {
    const answer = await ask();
    if (left === 0 || !isWorthAnother(answer)) return answer;
    await sleep(pauseMs);
  }
}

// What git itself knows of the worktrees of a repository. The first one is the main one.

export type GitWorktree = {
  path: string;
  /** Null where nothing was committed yet. */
  head: string | null;
  /** The branch without `refs/heads/`; null when it is detached, also in the middle of a rebase. */
  branch: string | null;
  bare: boolean;
  /** Why it is locked, perhaps an empty text; null when it is not. */
  locked: string | null;
  /** Its folder is gone. */
  missing: boolean;
};

export async function gitWorktrees(git: Git, folder: string): Promise<GitWorktree[]> {
  return parseWorktrees(await git.run(folder, ['worktree', 'list', '--porcelain', '-z']));
}

/** Records of NUL-ended attributes, each record ended by one more NUL. */
function parseWorktrees(text: string): GitWorktree[] {
  return text
    .split('\0\0')
    .filter((record) => record !== '')
    .map((record) => {
      const attributes = new Map(
        record.split('\0').map((attribute): [string, string] => {
          const at = attribute.indexOf(' ');
          return at < 0 ? [attribute, ''] : [attribute.slice(0, at), attribute.slice(at + 1)];
        }),
      );
      const head = attributes.get('HEAD');
      return {
        path: attributes.get('worktree') ?? '',
        head: head === undefined || /^0+$/.test(head) ? null : head,
        branch: attributes.get('branch')?.replace(/^refs\/heads\//, '') ?? null,
        bare: attributes.has('bare'),
        locked: attributes.get('locked') ?? null,
        missing: attributes.has('prunable'),
      };
    });
}
