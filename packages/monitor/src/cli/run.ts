// Runs one command line: parses it, runs the verb, and turns every outcome into a documented exit code.
import { CommanderError } from '@commander-js/extra-typings';
import { stackOf } from '@svc/lib/errors';
import { asFailure, Failure } from '../kernel/failure.ts';
import { AnswerIsNo, Interrupted, paint, type Terminal } from './kit/terminal.ts';
import { buildProgram } from './program.ts';

const EXIT_NO = 1;
const EXIT_USAGE = 2;
const EXIT_BUG = 70;
const EXIT_INTERRUPTED = 130;

export async function runCommandLine(terminal: Terminal, args: readonly string[]): Promise<number> {
  try {
    const program = await buildProgram(terminal, args[0]);
    await program.parseAsync([...args], { from: 'user' });
    return terminal.interrupted.aborted ? EXIT_INTERRUPTED : 0;
  } catch (error) {
    return exitCodeOf(terminal, asFailure(error));
  }
}

function exitCodeOf(terminal: Terminal, error: unknown): number {
  if (error instanceof AnswerIsNo) return terminal.interrupted.aborted ? EXIT_INTERRUPTED : EXIT_NO;
  if (error instanceof Interrupted) return EXIT_INTERRUPTED;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  if (error instanceof Failure) {
    terminal.err(`${paint(terminal, 'red', 'error:')} ${error.message}`);
    if (error.remedy !== undefined) terminal.err(error.remedy);
    return error.exitCode;
  }
  const stack = stackOf(error);
  terminal.err(
    `${paint(terminal, 'red', 'This is a bug in svc. Please report it with these lines:')}\n${stack}`,
  );
  return EXIT_BUG;
}
