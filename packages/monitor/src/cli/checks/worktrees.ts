// Leftover worktrees: partly created, partly removed, or without their folder. One that holds no work may be removed.
import { type DoctorFinding, doctorFinding } from '@svc/core';
import { Failure } from '../../errors.ts';
import { isLost } from '../../orchestrate/worktrees/inspect.ts';
import type { ListedWorktree, Worktrees } from '../../orchestrate/worktrees/worktrees.ts';
import { openWorktrees } from '../open-worktrees.ts';
import type { Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { type DoctorResult, fixableBy } from './check.ts';
import type { DoctorProject, DoctorProjects } from './configuration.ts';

const leftoverStates: readonly ListedWorktree['state'][] = [
  'partly created',
  'partly removed',
  'folder missing',
  'unknown to git',
];

export async function checkWorktrees(
  terminal: Terminal,
  session: Session,
  { projects }: DoctorProjects,
): Promise<DoctorResult[]> {
  const found = await Promise.all(projects.map((project) => checkProject(terminal, session, project)));
  const findings = found.flat();
  return findings.length > 0 ? findings : [doctorFinding('worktrees', 'ok', 'no leftover worktrees')];
}

async function checkProject(
  terminal: Terminal,
  session: Session,
  { folder, config }: DoctorProject,
): Promise<DoctorResult[]> {
  const worktrees = openWorktrees(terminal, session, { folder, config });
  try {
    const leftover = (await worktrees.list()).filter(({ state }) => leftoverStates.includes(state));
    return await Promise.all(leftover.map((one) => judge(terminal, worktrees, folder, one)));
  } catch (error) {
    // A project that is not a repository has no worktrees.
    if (error instanceof Failure && error.code === 'not-configured') return [];
    throw error;
  }
}

async function judge(
  terminal: Terminal,
  worktrees: Worktrees,
  folder: string,
  { name, path, state }: ListedWorktree,
): Promise<DoctorResult> {
  const finding: DoctorFinding = doctorFinding('worktrees', 'warning', `worktree ${name} is ${state}`, {
    evidence: path,
    remedy: `Run: cd '${folder}' && svc worktree remove ${name}`,
  });
  if (!state.startsWith('partly')) return finding;
  if (isLost((await worktrees.inspect(name)).losses)) return finding;
  return fixableBy(finding, async () => {
    // Without force, so it fails if work has appeared meanwhile.
    await worktrees.remove(name, { currentFolder: terminal.folder });
    return `removed the worktree ${name}, which was ${state} and empty`;
  });
}
