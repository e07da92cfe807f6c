// The entry point: builds the terminal from the process, runs the command line, sets the exit code.
import { homedir } from 'node:os';
import { text } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { diskCalls, exitProcess } from '@svc/lib/disk-calls';
import { askUser } from './kit/terminal.ts';
import { runCommandLine } from './run.ts';

const colourAllowed = process.env['NO_COLOR'] === undefined && process.env['TERM'] !== 'dumb';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of the pipe has closed it (`svc … | head`).
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());

process.exitCode = await runCommandLine(
  {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
    readInput: () => text(process.stdin),
    inputIsTerminal: isatty(0),
    ask: (question) => askUser(question, interrupt.signal),
    colour: colourAllowed && isatty(1),
    columns: process.stdout.columns ?? 80,
    environment: process.env,
    home: homedir(),
    folder: process.cwd(),
    now: () => new Date(),
    interrupted: interrupt.signal,
  },
  process.argv.slice(2),
);
// Without it, a disk that does not answer would keep this process.
if (diskCalls.unanswered() > 0) exitProcess();
