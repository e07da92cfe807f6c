// One of the writers of config-writers.ts: runs `svc config set` many times in the current folder.
import { runCommandLine } from '../packages/monitor/src/cli/run.ts';
import { quietTerminal } from './quiet-terminal.ts';

const [number, sets] = process.argv.slice(2).map(Number);

for (let index = 0; index < (sets ?? 0); index += 1) {
  const key = `svc.deploy.acme/r${number}-${index}.timeoutSec`;
  const code = await runCommandLine(quietTerminal, ['config', 'set', key, String(index + 1)]);
  if (code !== 0) process.exit(code);
}
