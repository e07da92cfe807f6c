// The process: builds the terminal from it, runs the command line, sets the exit code.
import { homedir } from 'node:os';
import { text } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { runCommandLine } from './run.ts';
import { askPerson } from './terminal.ts';

const colourAllowed = process.env['NO_COLOR'] === undefined && process.env['TERM'] !== 'dumb';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe went away (`svc … | head`): nothing is left to say.
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
    ask: (question) => askPerson(question, interrupt.signal),
    colour: colourAllowed && isatty(1),
    environment: process.env,
    home: homedir(),
    folder: process.cwd(),
    now: () => new Date(),
    interrupted: interrupt.signal,
  },
  process.argv.slice(2),
);
