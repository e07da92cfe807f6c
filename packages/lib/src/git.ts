// Runs git: no shell, limited in time and output, without prompts, and never redirected to another repository by an
// environment variable. The caller puts each foreign argument behind a `--`, or makes it a full ref.
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandEnd, RunCommand } from './process.ts';

export type GitOptions = {
  timeoutMs?: number | undefined;
  maxBytes?: number | undefined;
  environment?: Readonly<Record<string, string>>;
  input?: string | undefined;
  signal?: AbortSignal | undefined;
};

export type RunGit = (folder: string, args: readonly string[], options?: GitOptions) => Promise<CommandEnd>;

const MAX_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

/** Git runs the repository's hooks, which get `environment` too: it must not contain secrets. */
export function createGitRunner(run: RunCommand, environment: Readonly<Record<string, string>>): RunGit {
  const silent = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'false' };
  const own = { ...withoutRepository(environment), ...silent };
  return (
    folder,
    args,
    { environment: more, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, ...options } = {},
  ) =>
    askWhole(() =>
      run({
        file: 'git',
        args: ['-C', folder, ...args],
        environment: { ...own, ...more },
        timeoutMs,
        maxBytes,
        ...(options.input !== undefined && { input: options.input }),
        signal: options.signal,
      }),
    );
}

/** `git rev-parse --local-env-vars`: they select the repository, index or settings. */
const local =
  /^GIT_(?:ALTERNATE_OBJECT_DIRECTORIES|CONFIG|CONFIG_PARAMETERS|CONFIG_COUNT|OBJECT_DIRECTORY|DIR|WORK_TREE|IMPLICIT_WORK_TREE|GRAFT_FILE|INDEX_FILE|NO_REPLACE_OBJECTS|REPLACE_REF_BASE|PREFIX|SHALLOW_FILE|COMMON_DIR|NAMESPACE|INTERNAL_SUPER_PREFIX|QUARANTINE_PATH)$/;

export function withoutRepository(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !local.test(name)));
}

// Git reads the data of all worktrees for nearly everything. It fails if another git is just writing such data. That
// passes quickly, so the command is retried.

const TIMES = 40;
const PAUSE_MS = 50;
const halfWritten = /\bworktrees\/[^/\s]+\/(?:commondir|gitdir)\b/;

function isHalfWritten(end: CommandEnd): boolean {
  return end.ended === 'exit' && end.exitCode !== 0 && halfWritten.test(end.stderr);
}

/** `ask` must be safe to repeat: git did nothing, or reports again what is left to do. */
export async function askWhole(ask: () => Promise<CommandEnd>, pauseMs = PAUSE_MS): Promise<CommandEnd> {
  for (let left = TIMES; ; left -= 1) {
    const end = await ask();
    if (left === 0 || !isHalfWritten(end)) return end;
    await sleep(pauseMs);
  }
}

/** Why git did not finish on its own. */
export function gitEndWords(end: Exclude<CommandEnd, { ended: 'exit' }>): string {
  switch (end.ended) {
    case 'not-started':
      return `could not be started (${end.reason})`;
    case 'timeout':
      return 'took too long';
    case 'too-large':
      return 'printed more than can be read';
    case 'stopped':
      return 'was stopped';
  }
}

/** The end of git's output, for a message. */
export function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' ').slice(0, 600);
}
