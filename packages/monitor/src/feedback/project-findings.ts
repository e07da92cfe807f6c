// Findings that the daemon itself has: they go into the queue of the project, for its next drain.
import type { Finding } from '@svc/core';
import type { FileLocks } from '../disk/lock.ts';
import { createFindingsQueue } from './queue.ts';
import { projectFindingsFile } from './queue-path.ts';

/** Adds a finding to a project's queue, unless a line of it holds the text `unless`. */
export type AppendFinding = (project: string, finding: Finding, unless: string) => Promise<void>;

export function projectFindings(locks: FileLocks): AppendFinding {
  return (project, finding, unless) =>
    createFindingsQueue({ file: projectFindingsFile(project), locks }).append(finding, unless);
}
