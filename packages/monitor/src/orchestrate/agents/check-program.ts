// Whether the program of an agent can be started at all, asked before anything is made for it. The question is put by
// the shell and in the environment that would start the agent, so that the answer is the same.
import { errorTail, inOneLine } from '@svc/core';
import type { RunCommand } from '@svc/lib/process';
import { Failure } from '../../errors.ts';

const ASK = 'cd "$1" || exit 1; exec "$2" --version';
const PATIENCE_MS = 30_000;
const MOST_BYTES = 1024 * 1024;
const remedy =
  "Install it, or name a program in svc.orchestration.agent, with its full path if it is not in the daemon's PATH. After a change of PATH: svc-monitor.sh restart";

/** Exit codes of a shell whose program is not there, or is none. */
export function cannotStart(exitCode: number | null): boolean {
  return exitCode === 126 || exitCode === 127;
}

/** An answer with another exit code is one: not every program knows `--version`. */
export async function checkProgram({
  template,
  folder,
  environment,
  run,
}: {
  /** `svc.orchestration.agent` */
  template: readonly string[];
  /** Of the project: a relative path of the program is below it, as it is below a worktree. */
  folder: string;
  environment: Readonly<Record<string, string>>;
  run: RunCommand;
}): Promise<void> {
  const [program = ''] = template;
  // Known only when there is a worktree.
  if (program === '' || program.includes('${')) return;
  const end = await run({
    file: '/bin/sh',
    args: ['-c', ASK, 'svc-agent', folder, program],
    environment,
    timeoutMs: PATIENCE_MS,
    maxBytes: MOST_BYTES,
  });
  if (end.ended === 'too-large' || (end.ended === 'exit' && !cannotStart(end.exitCode))) return;
  throw new Failure(
    'start-failed',
    `The agent program ${JSON.stringify(program.slice(0, 200))} cannot be used: ${problemOf(end)}.`,
    remedy,
  );
}

function problemOf(end: Awaited<ReturnType<RunCommand>>): string {
  if (end.ended === 'timeout') return `it did not answer to --version within ${PATIENCE_MS / 1000} s`;
  if (end.ended === 'not-started') return `the shell that starts it is missing (${end.reason})`;
  if (end.ended !== 'exit') return 'it was ended by a signal when it was asked for its --version';
  const said = inOneLine(errorTail(end.stderr));
  const what = end.exitCode === 127 ? 'it was not found' : 'it cannot be executed';
  return said === '' ? what : `${what} (${said})`;
}
