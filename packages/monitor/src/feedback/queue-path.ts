// Where the findings of a run wait. First match wins: SVC_FINDINGS_FILE; the session's file; the current one.
import { join, resolve } from 'node:path';
import { type Environment, safeSegment } from '@svc/core';
import { locateProject } from '../config/locate.ts';
import { worktreeRoot } from '../context/worktree-root.ts';
import { refuseLeadingOut } from '../disk/leads-out.ts';
import { Failure } from '../errors.ts';

export function findingsFile({
  environment,
  folder,
  home,
}: {
  environment: Environment;
  /** Where the helper was started: the project is looked for from here upwards. */
  folder: string;
  home: string;
}): string {
  const { SVC_FINDINGS_FILE: file = '', SVC_SESSION_ID: session = '' } = environment;
  const root = locateProject(folder, home).folder ?? worktreeRoot(folder);
  if (file !== '') return resolve(root, file);
  if (session === '' || safeSegment(session)) {
    const own =
      session === '' ? projectFindingsFile(root) : join(root, '.svc', 'findings', `${session}.jsonl`);
    refuseLeadingOut(worktreeRoot(root), own);
    return own;
  }
  throw new Failure(
    'usage',
    `SVC_SESSION_ID becomes a file name: letters, digits, ".", "_" and "-", at most 120; found ${JSON.stringify(session.slice(0, 200))}.`,
    'Set another SVC_SESSION_ID, or name the file: SVC_FINDINGS_FILE=<path>',
  );
}

/** The queue of a project, where no session has one of its own. */
export function projectFindingsFile(project: string): string {
  return join(project, '.svc', 'findings', 'current.jsonl');
}
