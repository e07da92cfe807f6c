// POST /api/runs starts a run; GET /api/runs and /api/runs/:run show runs; POST /api/runs/:run/pause, resume, cancel and
// retry are a person's actions on one.
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import type { RunProjects, ServedFolders } from './io/run-project.ts';
import { servedProject } from './io/run-project.ts';
import { createRunActions, type RunParts } from './service.ts';

export function runRoutes(options: RunParts): Routes {
  const runs = createRunActions(options);
  return (app) => {
    route(app, api.startRun, ({ body }) => runs.start(body));
    route(app, api.checkStart, ({ body }) => runs.check(body));
    route(app, api.listRuns, () => ({ runs: runs.list() }));
    route(app, api.getRun, ({ params }) => runs.view(params.run));
    route(app, api.pauseRun, ({ params, body }) => runs.pause(params.run, body.by));
    route(app, api.resumeRun, ({ params, body }) => runs.resume(params.run, body.by));
    route(app, api.cancelRun, ({ params, body }) => runs.cancel(params.run, body));
    route(app, api.retryTicket, ({ params, body }) => runs.retry(params.run, body));
  };
}

/** The agents that a run of the project can use. */
export function knownAgentRoutes({
  projects,
  served,
  home,
}: {
  projects: RunProjects;
  served: ServedFolders;
  /** Before there is a project, the user's own settings and the defaults count. */
  home: string;
}): Routes {
  const projectAt = async (folder: string | undefined) =>
    projects.of(folder === undefined ? home : await servedProject(folder, served));
  return (app) => {
    route(app, api.listAgents, async ({ query }) => ({
      agents: await (await projectAt(query.project)).listAgents(),
    }));
    route(app, api.checkAgent, async ({ body }) => (await projectAt(body.project)).checkAgent(body.name));
  };
}
