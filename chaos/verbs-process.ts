// A process that runs svc verbs: each line of its input is a JSON list of arguments. It ends with the exit code of the
// first that fails, or at the end of its input.
import { createInterface } from 'node:readline';
import { runCommandLine } from '../packages/monitor/src/cli/run.ts';
import { quietTerminal } from './quiet-terminal.ts';

for await (const line of createInterface({ input: process.stdin })) {
  const code = await runCommandLine(quietTerminal, JSON.parse(line) as string[]);
  if (code !== 0) process.exit(code);
}
