// Small programs that act as an agent, and folders for their files. Everything that is started is ended when the
// test is over.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processExists, signalGroup } from '@svc/lib/pid';
import { until } from '@svc/testkit';
import { type AgentFiles, agentFiles } from '../io/launch.ts';

export type AgentHome = {
  runsDir: string;
  worktree: string;
  /** The files of ENG-1 in run-1. */
  files: (attempt?: number) => AgentFiles;
  script: (...lines: string[]) => [string, ...string[]];
};

export function agentHome(folder: string): AgentHome {
  const worktree = join(folder, 'worktree');
  mkdirSync(worktree);
  return {
    runsDir: join(folder, 'runs'),
    worktree,
    files: (attempt = 1) =>
      agentFiles(join(folder, 'runs'), { orchestrator: 'run-1', ticket: 'ENG-1', attempt }),
    script(...lines) {
      const path = join(folder, `agent-${crypto.randomUUID()}.sh`);
      writeFileSync(path, `${lines.join('\n')}\n`);
      return ['/bin/sh', path];
    },
  };
}

/** The text of a file as soon as it exists and is not empty. */
export function textIn(path: string): Promise<string> {
  return until(() => (existsSync(path) ? readFileSync(path, 'utf8') : ''));
}

export function lives(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  if (!existsSync('/proc/self')) return processExists(pid);
  // A zombie that its parent has not collected.
  return existsSync(path) && !/\) [ZX] /.test(readFileSync(path, 'utf8'));
}

/** Ends a whole group that a test started; a group that is gone is fine. */
export function killGroup(pid: number): void {
  signalGroup(pid, 'SIGKILL');
}
