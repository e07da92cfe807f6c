// The process: builds the terminal from it, runs the command line, sets the exit code.
import { runCommandLine } from './program.ts';

/** A reader that closes the pipe early, such as `head`, is not a failure. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const STOP_WITHIN_MS = 10_000;

const stopped = new Promise<string>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      resolve(signal);
      // Even if something hangs, the process ends in time; a second signal ends it at once.
      setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref();
      process.once(signal, () => process.exit(130));
    });
  }
});

process.exitCode = await runCommandLine(
  {
    out: (text) => process.stdout.write(`${text}\n`),
    err: (text) => process.stderr.write(`${text}\n`),
    environment: process.env,
    stopped,
  },
  process.argv.slice(2),
);
