// One of the processes of findings.ts: `add <from> <count>` adds findings one after the other, `drain` files them, and
// `add-when-told <from> <count>` waits for a line on its input before each.
import { createInterface } from 'node:readline';
import { runCommandLine } from '../packages/monitor/src/cli/run.ts';
import { quietTerminal } from './quiet-terminal.ts';

const [job, from = '0', count = '0'] = process.argv.slice(2);
const input = createInterface({ input: process.stdin });
const told = input[Symbol.asyncIterator]();

if (job === 'drain') process.exitCode = await runCommandLine(quietTerminal, ['findings', 'drain']);
for (let number = Number(from); number < Number(from) + Number(count); number += 1) {
  if (job === 'add-when-told') await told.next();
  // Of every length, beyond what a pipe would take in one piece too.
  const body = 'x'.repeat((number * 7919) % (number % 50 === 0 ? 70_000 : 300));
  const words = ['--title', `finding ${number}`, '--body', body, '--skill', `skill-${number % 3}`];
  const code = await runCommandLine(quietTerminal, ['add-finding', ...words]);
  if (code !== 0) process.exit(code);
}
input.close();
