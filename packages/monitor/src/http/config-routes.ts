// GET /api/projects: the projects that the daemon serves. GET /api/config: every value of the configuration as the
// daemon uses it, with its source and default; secrets and addresses that open something are masked.
import { api, type ConfigReport, type ProjectEntry, type ProjectList } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { Failure } from '../errors.ts';
import { fieldsOf, textOf } from './request-fields.ts';

export function configRoutes(options: {
  projects: () => ProjectEntry[];
  /** Of a project that is served; undefined is the one that the daemon was started in. */
  report: (folder: string | undefined, projects: ProjectEntry[]) => ConfigReport;
}): FastifyPluginCallback {
  return (app, _options, done) => {
    app.get('/api/projects', async (): Promise<ProjectList> => ({ projects: options.projects() }));
    app.get('/api/config', async (request): Promise<ConfigReport> => {
      const { project } = fieldsOf(request.query, api.getConfig.query);
      const asked = textOf('project', project, api.getConfig.query.shape.project);
      const projects = options.projects();
      if (asked === undefined) return options.report(undefined, projects);
      // Only a project that is served: a path of a request is never looked at on the disk.
      const found = projects.find(({ id }) => id === asked);
      if (found === undefined)
        throw new Failure(
          'unknown-project',
          `The daemon serves no project ${JSON.stringify(asked.slice(0, 200))}.`,
          'See which: GET /api/projects, or svc config show --project <folder>',
        );
      return options.report(found.folder, projects);
    });
    done();
  };
}
