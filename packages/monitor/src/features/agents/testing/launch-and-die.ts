// Launches an agent and is killed with -9 right after the start, before it could be recorded.
import { spawn } from 'node:child_process';
import { system } from '@svc/lib/system';
import { agentFiles, launchAgent } from '../io/launch.ts';

const [runsDir = '', cwd = '', program = '', ...args] = process.argv.slice(2);

await launchAgent({
  argv: [program, ...args],
  cwd,
  environment: { PATH: '/usr/bin:/bin' },
  files: agentFiles(runsDir, { orchestrator: 'run-1', ticket: 'ENG-1', attempt: 1 }),
  processStarts: system.processStarts,
  start: ((...given: Parameters<typeof spawn>) => {
    const child = spawn(...given);
    process.kill(process.pid, 'SIGKILL');
    return child;
  }) as typeof spawn,
});
