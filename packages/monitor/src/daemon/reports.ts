// What lies on the disk and is shown by the daemon as it is found there: the configuration and the archive.
import type { Environment } from '@svc/core';
import { rootFrom, withArchiveIndex } from '../archive/open-archive.ts';
import type { Machine } from '../config/environment.ts';
import { listProjects, reportConfig } from '../config/report.ts';
import type { archiveRoutes } from '../http/archive-routes.ts';
import type { configRoutes } from '../http/config-routes.ts';
import type { Projects } from './projects.ts';

export type Reports = {
  configuration: Parameters<typeof configRoutes>[0];
  archive: Parameters<typeof archiveRoutes>[0];
};

export function createReports({
  machine,
  environment,
  folder: startFolder,
  projects: { folders, configs },
}: {
  machine: Machine;
  environment: Environment;
  /** The one that the daemon was started from. */
  folder: string;
  projects: Pick<Projects, 'folders' | 'configs'>;
}): Reports {
  return {
    configuration: {
      projects: () => listProjects(machine, environment, folders),
      report: (folder = startFolder, projects) => reportConfig(machine, environment, folder, projects),
    },
    archive: {
      async withIndex(work) {
        // The key is of the global file: every project has the same.
        const root = rootFrom(configs[0]?.archive.root ?? '', machine.home);
        return withArchiveIndex(machine.databaseFile, root, (index) => work({ root, index }));
      },
    },
  };
}
