// What is missing before a run can start: on this machine, at the tracker and at the code host.
import { type AgentProblem, trackerOf } from '@svc/core';
import type { AskServices } from '../orchestrate/runs/ask-services.ts';
import { type PreparedRun, prepareRun, type RunRequest } from '../orchestrate/runs/begin-run.ts';
import type { RunProjects } from '../orchestrate/runs/run-project.ts';
import { boardOf, type StateAccess } from './state-access.ts';

/** `notes` do not prevent the start. */
type Preflight = PreparedRun & { notes: AgentProblem[] };

/** With `task`, the run is for a task whose ticket is still to be created, in the tracker or only here. */
export async function preflight(
  options: { state: StateAccess; projects: RunProjects; askServices: AskServices; now: () => Date },
  request: Omit<RunRequest, 'plan'>,
  work: { plan: RunRequest['plan'] } | { task: 'tracker' | 'local' },
): Promise<Preflight> {
  const { state, projects, askServices, now } = options;
  const plan = 'task' in work ? { tickets: ['task'] } : work.plan;
  const prepared = await prepareRun({
    request: { ...request, plan },
    board: boardOf(state),
    projects,
    now: now(),
    isTask: 'task' in work,
  });
  const folder = prepared.project;
  const canFile = trackerOf((await projects.of(folder)).config).provider !== undefined;
  const { missing, notes } = await askServices({
    folder,
    filesTicket: 'task' in work && work.task === 'tracker' && canFile,
  });
  return { ...prepared, missing: [...prepared.missing, ...missing], notes };
}
