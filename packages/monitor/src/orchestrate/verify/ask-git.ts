// Git for verification: answers of any size that is wanted, nothing of the merged commit run on the way (hooks),
// and no commit shown as another.
import type { Environment } from '@svc/core';
import type { RunCommand } from '@svc/lib/process';
import { Failure } from '../../errors.ts';
import { askWhole, isHalfWritten, silentGitEnvironment } from '../worktrees/git.ts';

const TIMEOUT_MS = 120_000;
const MAX_BYTES = 64 * 1024 * 1024;

export type GitReply = { exitCode: number; stdout: string; stderr: string } | 'too-large';

export type AskGit = (
  folder: string,
  args: readonly string[],
  options?: { timeoutMs?: number; maxBytes?: number; signal?: AbortSignal | undefined },
) => Promise<GitReply>;

export function createAskGit({
  run,
  environment,
  secretNames,
}: {
  run: RunCommand;
  environment: Environment;
  /** Variables that hold secrets, besides those that always do. */
  secretNames: readonly string[];
}): AskGit {
  const own = {
    ...silentGitEnvironment(environment, secretNames),
    GIT_NO_REPLACE_OBJECTS: '1',
  };
  const askOnce: AskGit = async (
    folder,
    args,
    { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, signal } = {},
  ) => {
    const end = await run({
      file: 'git',
      args: ['-C', folder, '-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', ...args],
      environment: own,
      timeoutMs,
      maxBytes,
      signal,
    });
    if (end.ended === 'exit') return end;
    if (end.ended === 'too-large') return 'too-large';
    const how = end.ended === 'not-started' ? `could not be started (${end.reason})` : wordsOf(end.ended);
    throw new Failure('file-unusable', `git ${args[0] ?? ''} in ${folder} ${how}.`);
  };
  return (folder, args, options) =>
    askWhole(
      () => askOnce(folder, args, options),
      (reply) => reply !== 'too-large' && isHalfWritten(reply),
    );
}

function wordsOf(ended: 'timeout' | 'stopped'): string {
  return ended === 'timeout' ? 'took too long' : 'was stopped';
}

/** The standard output of what has to succeed. */
export async function mustAnswer(reply: Promise<GitReply>, what: string): Promise<string> {
  const answer = await reply;
  if (answer === 'too-large')
    throw new Failure('file-unusable', `${what}: git answered more than can be read.`);
  if (answer.exitCode === 0) return answer.stdout;
  throw new Failure('file-unusable', `${what}: git failed (${answer.exitCode}): ${lastWords(answer.stderr)}`);
}

export function lastWords(text: string): string {
  return text.trim().split('\n').slice(-3).join(' ').slice(0, 600);
}
