// The worktrees of a project, for verbs that work without the daemon.
import type { Config } from '../features/config.ts';
import { createRunEndFindings } from '../features/findings/io/run-end.ts';
import { createWorktrees, type Worktrees } from '../features/worktrees/io/worktrees.ts';
import { createReporter } from './report-fact.ts';
import type { Session } from './session.ts';
import type { Terminal } from './terminal.ts';

export function openWorktrees(
  terminal: Terminal,
  { machine, locks }: Session,
  { folder, config }: { folder: string; config: Config },
): Worktrees {
  const { home, dataDir, locksDir, trackerApiUrl } = machine;
  const { environment, now } = terminal;
  return createWorktrees({
    projectFolder: folder,
    config,
    home,
    dataDir,
    locksDir,
    locks,
    findings: createRunEndFindings({
      config,
      locks,
      trackerApiUrl,
      environment,
      source: 'cli',
      report: createReporter(terminal, machine),
      now: () => now().getTime(),
    }),
    environment,
    now,
  });
}
