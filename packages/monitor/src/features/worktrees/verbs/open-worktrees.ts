// The worktrees of a project, for verbs that work without the daemon.

import { createReporter } from '../../../cli/kit/report-fact.ts';
import type { Session } from '../../../cli/kit/session.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import type { Config } from '../../config.ts';
import { createRunEndFindings } from '../../findings/io/run-end.ts';
import { createWorktrees, type Worktrees } from '../io/worktrees.ts';

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
