// One of the writers of config-writers.ts: runs `svc config set` many times in the current folder.
import { homedir } from 'node:os';
import { runCommandLine } from '../packages/monitor/src/cli/run.ts';

const [number, sets] = process.argv.slice(2).map(Number);
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

for (let index = 0; index < (sets ?? 0); index += 1) {
  const key = `svc.deploy.acme/r${number}-${index}.timeoutSec`;
  const code = await runCommandLine(terminal, ['config', 'set', key, String(index + 1)]);
  if (code !== 0) process.exit(code);
}
