// Git for verification: output of any needed size, and no commit replaced by another.
import { createGitRunner, type GitOptions, gitEndWords, lastLines } from '@svc/lib/git';
import type { RunCommand } from '@svc/lib/process';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { Failure } from '../../../kernel/failure.ts';
import { withoutSecrets } from '../../agents/agent-environment.ts';

const TIMEOUT_MS = 120_000;
const MAX_BYTES = 64 * 1024 * 1024;

export type GitReply = { exitCode: number; stdout: string; stderr: string } | 'too-large';

export type AskGit = (
  folder: string,
  args: readonly string[],
  options?: Omit<GitOptions, 'environment' | 'input'>,
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
  const runGit = createGitRunner(run, withoutSecrets(environment, secretNames));
  return async (folder, args, { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, ...options } = {}) => {
    const end = await runGit(folder, args, {
      ...options,
      environment: { GIT_NO_REPLACE_OBJECTS: '1' },
      timeoutMs,
      maxBytes,
    });
    if (end.ended === 'exit') return end;
    if (end.ended === 'too-large') return 'too-large';
    throw new Failure('file-unusable', `git ${args[0] ?? ''} in ${folder} ${gitEndWords(end)}.`);
  };
}

/** The standard output of a command that has to succeed. */
export async function mustAnswer(reply: Promise<GitReply>, what: string): Promise<string> {
  const answer = await reply;
  if (answer === 'too-large') throw new Failure('file-unusable', `${what}: git returned too much output.`);
  if (answer.exitCode === 0) return answer.stdout;
  throw new Failure('file-unusable', `${what}: git failed (${answer.exitCode}): ${lastLines(answer.stderr)}`);
}
