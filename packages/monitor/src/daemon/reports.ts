// The configuration that the daemon uses, and the archive as it is found on the disk.
import { projectEntry } from '@svc/core';
import { rootFrom, withArchiveIndex } from '../archive/open-archive.ts';
import type { Machine } from '../config/environment.ts';
import type { LiveConfig } from '../config/live.ts';
import { reportConfig } from '../config/report.ts';
import type { ConfigurationReports, WithArchive } from '../http/daemon-routes.ts';

export type Reports = {
  configuration: ConfigurationReports;
  withArchive: WithArchive;
};

export function createReports({
  machine,
  live,
}: {
  machine: Machine;
  live: Pick<LiveConfig, 'current'>;
}): Reports {
  return {
    configuration: {
      projects: () => live.current().projects.map(({ folder, values }) => projectEntry(folder, values)),
      report: (folder, projects) => reportConfig(machine, live.current(), folder, projects),
    },
    async withArchive(work) {
      const root = rootFrom(live.current().machineWide.archive.root, machine.home);
      return withArchiveIndex(machine.databaseFile, root, (index) => work({ root, index }));
    },
  };
}
