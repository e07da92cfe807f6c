// What is missing before a run can start: on this machine, at the tracker and at the code host.
import { boardOf, type StateAccess } from '../../../kernel/board/state-access.ts';
import type { AgentProblem } from '../../agents/choice.ts';
import { trackerOf } from '../../tracker/tracker-of.ts';
import type { RunPlan } from '../plan.ts';
import type { AskServices } from './ask-services.ts';
import { findUnready, type PreparedRun, prepareRun, type RunRequest } from './begin-run.ts';
import type { RunProjects } from './run-project.ts';

/** `notes` do not prevent the start. */
type Preflight = PreparedRun & { notes: AgentProblem[] };

type Options = {
  state: StateAccess;
  projects: Pick<RunProjects, 'of'>;
  askServices: AskServices;
  now: () => Date;
};

/** With `task`, the run is for a task whose ticket is still to be created, in the tracker or only here. */
export async function preflight(
  options: Options,
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

/** The same before one ticket of a run is started again. */
export async function preflightRetry(
  { state, projects, askServices, now }: Options,
  orchestrator: string,
  plan: RunPlan,
  ticket: string,
): Promise<Pick<Preflight, 'missing' | 'notes'>> {
  const project = await projects.of(plan.project);
  const [unready, services] = await Promise.all([
    findUnready({
      project,
      plan,
      spender: { orchestrator, ticket },
      tickets: [ticket],
      board: boardOf(state),
      now: now(),
    }),
    askServices({ folder: plan.project, filesTicket: false }),
  ]);
  return { missing: [...unready.missing, ...services.missing], notes: services.notes };
}
