// One of the processes of archive.ts: runs `svc archive …`, and says when it begins.
import { runCommandLine } from '../packages/monitor/src/cli/run.ts';
import { quietTerminal } from './quiet-terminal.ts';

process.stdout.write('begin\n');
process.exitCode = await runCommandLine(quietTerminal, ['archive', ...process.argv.slice(2)]);
