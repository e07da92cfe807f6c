// POST /api/runs starts a run; GET /api/runs and /api/runs/:run show runs; POST /api/runs/:run/pause, resume, cancel and
// retry are a person's actions on one.
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
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
