// The served projects, and where each value comes from.
import { Failure } from '../../kernel/failure.ts';
import { type Asked, type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import type { ConfigReport, ProjectEntry } from './api.ts';

type ConfigurationReports = {
  projects: () => ProjectEntry[];
  /** The report of a served project; undefined is the project that the daemon was started in. */
  report: (folder: string | undefined, projects: ProjectEntry[]) => ConfigReport;
};

export function configRoutes(options: ConfigurationReports): Routes {
  function reportOf({ project }: Asked<typeof api.getConfig>['query']): ConfigReport {
    const projects = options.projects();
    if (project === undefined) return options.report(undefined, projects);
    // Only served projects: a path from a request is never looked up on the disk.
    const found = projects.find(({ id }) => id === project);
    if (found !== undefined) return options.report(found.folder, projects);
    throw new Failure(
      'unknown-project',
      `The daemon serves no project ${JSON.stringify(project.slice(0, 200))}.`,
      'List the projects: GET /api/projects. For a folder: svc config show --project <folder>',
    );
  }
  return (app) => {
    route(app, api.listProjects, () => ({ projects: options.projects() }));
    route(app, api.getConfig, ({ query }) => reportOf(query));
  };
}
