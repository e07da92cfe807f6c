// Starts a program and waits for its end: bounded in time and output, with what it is told on standard input,
// an environment of its own, and nothing of it left running afterwards.
import { execa } from 'execa';

export type Command = {
  file: string;
  /** Everybody on the machine can read these: nothing secret goes here. */
  args: readonly string[];
  input?: string;
  environment: Readonly<Record<string, string>>;
  timeoutMs: number;
  maxBytes: number;
  signal?: AbortSignal | undefined;
};

export type CommandEnd =
  | { ended: 'exit'; exitCode: number; stdout: string; stderr: string }
  /** It could not be started; `reason` is the system's code, such as ENOENT. */
  | { ended: 'not-started'; reason: string }
  | { ended: 'timeout' | 'too-large' | 'stopped' };

export type RunCommand = (command: Command) => Promise<CommandEnd>;

export const runCommand: RunCommand = async ({ file, args, environment, ...command }) => {
  const result = await execa(file, args, {
    input: command.input ?? '',
    env: environment,
    extendEnv: false,
    timeout: command.timeoutMs,
    maxBuffer: command.maxBytes,
    killDescendants: true,
    forceKillAfterDelay: 1_000,
    stripFinalNewline: false,
    reject: false,
    ...(command.signal && { cancelSignal: command.signal }),
  });
  if (result.timedOut) return { ended: 'timeout' };
  if (result.isMaxBuffer) return { ended: 'too-large' };
  if (result.isCanceled || result.isTerminated) return { ended: 'stopped' };
  const { exitCode, stdout, stderr } = result;
  if (exitCode === undefined) return { ended: 'not-started', reason: result.code ?? 'unknown reason' };
  return { ended: 'exit', exitCode, stdout, stderr };
};
