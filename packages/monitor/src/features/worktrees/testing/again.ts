// For a separate process: the worktrees of a test repository that another process made, with a step that waits.
import { join } from 'node:path';
import { createFileLocks } from '../../../kernel/disk/lock.ts';
import { Config } from '../../config.ts';
import { createWorktrees, type Worktrees } from '../io/worktrees.ts';
import { noFindings } from './no-findings.ts';

export function worktreesOf(root: string, setup: string[]): Worktrees {
  const home = join(root, 'home');
  const dataDir = join(home, 'svc');
  const locksDir = join(dataDir, 'locks');
  return createWorktrees({
    projectFolder: join(root, 'web'),
    config: Config.parse({ svc: { projectKey: 'demo', worktree: { setup } } }),
    home,
    dataDir,
    locksDir,
    locks: createFileLocks({ folder: locksDir }),
    findings: noFindings,
    environment: { PATH: process.env['PATH'] ?? '', HOME: home, GIT_CONFIG_GLOBAL: '/dev/null' },
    now: () => new Date(),
  });
}
