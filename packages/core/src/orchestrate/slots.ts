// The slots of projects and runs: who may start an agent now. A ticket has one worktree in its project, so that
// no two agents work on it at once, whichever run asked for them.
import type { HoldReason, PlannedRun, World } from './acts.ts';

export type Slots = {
  /** Takes a slot for the ticket, or says why there is none. */
  take: (planned: PlannedRun, ticket: string) => { why: HoldReason; message: string } | undefined;
};

type Project = { most: number; used: number; tickets: Set<string> };

export function createSlots({ runs, processes }: Pick<World, 'runs' | 'processes'>): Slots {
  const projects = new Map<string, Project>();
  const usedByRun = new Map<string, number>();
  for (const { run, plan, limits } of runs) {
    const known = projects.get(plan.project);
    const most = Math.min(known?.most ?? limits.maxParallel, limits.maxParallel);
    projects.set(plan.project, { most, used: known?.used ?? 0, tickets: known?.tickets ?? new Set() });
    usedByRun.set(run.orchestrator, 0);
  }
  const projectOfRun = new Map(runs.map(({ run, plan }) => [run.orchestrator, projects.get(plan.project)]));
  for (const key of processes.keys()) {
    const [orchestrator = '', ticket = ''] = key.split('/', 2);
    occupy(projectOfRun.get(orchestrator), orchestrator, ticket);
  }
  return {
    take({ run, plan }, ticket) {
      const project = projects.get(plan.project);
      const usedHere = usedByRun.get(run.orchestrator) ?? 0;
      if (project === undefined || project.tickets.has(ticket.toLowerCase()))
        return { why: 'ticket-elsewhere', message: `Another agent works on ${ticket}` };
      if (project.used >= project.most)
        return { why: 'slots', message: `All ${project.most} slots of the project are taken` };
      if (usedHere >= plan.maxParallel)
        return { why: 'slots', message: `All ${plan.maxParallel} slots of the run are taken` };
      occupy(project, run.orchestrator, ticket);
      return undefined;
    },
  };

  function occupy(project: Project | undefined, orchestrator: string, ticket: string): void {
    if (project === undefined) return;
    project.used += 1;
    project.tickets.add(ticket.toLowerCase());
    usedByRun.set(orchestrator, (usedByRun.get(orchestrator) ?? 0) + 1);
  }
}
