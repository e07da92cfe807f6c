// One of the processes of archive.ts: runs `svc archive …`, and says when it begins.
import { homedir } from 'node:os';
import { runCommandLine } from '../packages/monitor/src/cli/run.ts';

process.stdout.write('begin\n');
process.exitCode = await runCommandLine(
  {
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
  },
  ['archive', ...process.argv.slice(2)],
);
