// The projects that the daemon serves, each with its configuration, read once for all checks.
import type { Config, ConfigProblem } from '@svc/core';
import { type ConfigFiles, loadConfig } from '../../config/load.ts';
import { loadProjects } from '../../config/projects.ts';
import { ruleFilterProblems } from '../rule-filters.ts';
import type { Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';

export type DoctorProject = { folder: string; config: Config; files: ConfigFiles };

export type DoctorProjects = {
  projects: DoctorProject[];
  /** Defaults too, where there is no project. */
  configs: Config[];
  problems: ConfigProblem[];
  /** Every file that was read for it. */
  files: string[];
};

export async function loadDoctorProjects(terminal: Terminal, { machine }: Session): Promise<DoctorProjects> {
  const { environment } = terminal;
  const { configs, folders, files, machineWide, ...found } = await loadProjects(
    machine,
    environment,
    terminal.folder,
  );
  const loaded = await Promise.all(
    folders.map(async (folder) => ({ folder, ...(await loadConfig(machine, environment, folder)) })),
  );
  const projects = loaded.flatMap(({ folder, config, files: own }) =>
    config === undefined ? [] : { folder, config, files: own },
  );
  const problems = [...found.problems, ...(await ruleFilterProblems(machineWide))];
  return { projects, configs, problems, files };
}
