// Starts a program and waits for its end: limited in time and output, with text on standard input, its own environment,
// and no leftover processes.
import type { Readable } from 'node:stream';
import { execa } from 'execa';

export type Command = {
  file: string;
  /** Every user of the machine can read these: no secrets. */
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
  const child = execa(file, args, {
    input: command.input ?? '',
    env: environment,
    extendEnv: false,
    timeout: command.timeoutMs,
    // If execa kept it, endless output would be in memory several times, and take seconds to be put into an error.
    buffer: false,
    killDescendants: true,
    forceKillAfterDelay: 1_000,
    reject: false,
    ...(command.signal && { cancelSignal: command.signal }),
  });
  let isTooLarge = false;
  const stop = (): void => {
    isTooLarge = true;
    child.kill();
  };
  const stdout = collect(child.stdout, command.maxBytes, stop);
  const stderr = collect(child.stderr, command.maxBytes, stop);
  const result = await child;
  if (isTooLarge) return { ended: 'too-large' };
  if (result.timedOut) return { ended: 'timeout' };
  if (result.isCanceled || result.isTerminated) return { ended: 'stopped' };
  const { exitCode } = result;
  if (exitCode === undefined) return { ended: 'not-started', reason: result.code ?? 'unknown reason' };
  return { ended: 'exit', exitCode, stdout: stdout(), stderr: stderr() };
};

/** The output as text, once it has ended. Beyond the limit nothing is kept, and what was kept is dropped. */
function collect(stream: Readable, maxBytes: number, onTooLarge: () => void): () => string {
  const parts: Buffer[] = [];
  let length = 0;
  stream.on('data', (part: Buffer) => {
    length += part.length;
    if (length <= maxBytes) return void parts.push(part);
    if (length - part.length <= maxBytes) onTooLarge();
    parts.length = 0;
  });
  return () => Buffer.concat(parts).toString();
}
