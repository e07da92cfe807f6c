// One of the processes of findings.ts: `add <from> <count>` adds findings one after the other, `drain` files them.
import { homedir } from 'node:os';
import { runCommandLine } from '../packages/monitor/src/cli/run.ts';

const [job, from = '0', count = '0'] = process.argv.slice(2);
const terminal = {
  out: () => undefined,
  err: (text: string) => void process.stderr.write(`${text}\n`),
  readInput: async () => '',
  inputIsTerminal: false,
  ask: async () => undefined,
  colour: false,
  environment: process.env,
  home: homedir(),
  folder: process.cwd(),
  now: () => new Date(),
  interrupted: new AbortController().signal,
};

if (job === 'drain') process.exitCode = await runCommandLine(terminal, ['findings', 'drain']);
for (let number = Number(from); number < Number(from) + Number(count); number += 1) {
  // Of every length, beyond what a pipe would take in one piece too.
  const body = 'x'.repeat((number * 7919) % (number % 50 === 0 ? 70_000 : 300));
  const words = ['--title', `finding ${number}`, '--body', body, '--skill', `skill-${number % 3}`];
  const code = await runCommandLine(terminal, ['add-finding', ...words]);
  if (code !== 0) process.exit(code);
}
