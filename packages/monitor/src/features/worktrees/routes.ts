// What the agent of a ticket changed in its worktree.
import { boardOf, type StateAccess } from '../../kernel/board/state-access.ts';
import { Failure } from '../../kernel/failure.ts';
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import { workerNamed } from '../workers/service.ts';
import type { Worktrees } from './io/worktrees.ts';

type WorktreesOfProjects = {
  of: (folder: string) => Promise<{ worktrees: Pick<Worktrees, 'changes' | 'files'> }>;
};

/** The worktree is found by the plan of the run, never by a path that a worker reports. */
async function worktreeOf(
  { state, projects }: { state: StateAccess; projects: WorktreesOfProjects },
  ticket: string,
  named: string | undefined,
) {
  const { orchestrator, ticket: name } = workerNamed(state, ticket, named);
  const plan = boardOf(state).runs.get(orchestrator)?.plan ?? null;
  if (plan === null)
    throw new Failure(
      'not-allowed-now',
      `svc did not start the run ${orchestrator}, so it does not know the worktree of ${name}.`,
      'Start runs with svc to see their changes: svc orchestrate start',
    );
  const { worktrees } = await projects.of(plan.project);
  return { orchestrator, name, base: plan.base, worktrees };
}

export function worktreeRoutes(options: { state: StateAccess; projects: WorktreesOfProjects }): Routes {
  return (app) => {
    route(app, api.getChanges, async ({ params, query }) => {
      const { orchestrator, name, base, worktrees } = await worktreeOf(
        options,
        params.ticket,
        query.orchestrator,
      );
      return { ticket: name, orchestrator, ...(await worktrees.changes(name, base)) };
    });
    route(app, api.getFiles, async ({ params, query }) => {
      const { orchestrator, name, worktrees } = await worktreeOf(options, params.ticket, query.orchestrator);
      return { ticket: name, orchestrator, ...(await worktrees.files(name, query.query)) };
    });
  };
}
