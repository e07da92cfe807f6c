// What the agent of a ticket changed in its worktree.

import { api } from '@svc/core';
import { Failure } from '../../errors.ts';
import { type Routes, route } from '../../http/route.ts';
import { boardOf, type StateAccess } from '../../state/state-access.ts';
import type { RunProjects } from '../runs/run-project.ts';
import { workerNamed } from '../workers/service.ts';

/** The worktree is found by the plan of the run, never by a path that a worker reports. */
async function worktreeOf(
  { state, projects }: { state: StateAccess; projects: RunProjects },
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

export function worktreeRoutes(options: { state: StateAccess; projects: RunProjects }): Routes {
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
