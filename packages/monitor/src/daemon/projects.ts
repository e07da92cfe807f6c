// The projects that the daemon serves: those of the global file and the one it was started from.
// A project whose configuration is broken is left out and named in health; the others go on.
import { type Config, type ConfigProblem, type Environment, resolveConfig } from '@svc/core';
import type { Machine } from '../config/environment.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';

export type Projects = {
  /** The configurations in force; at least one, if only of defaults. */
  configs: Config[];
  folders: string[];
  problems: ConfigProblem[];
};

export async function loadProjects(
  machine: Machine,
  environment: Environment,
  startFolder: string,
): Promise<Projects> {
  const own = await loadConfig(machine, environment, startFolder);
  const listed = own.values.find(({ key }) => key === 'svc.projects')?.value;
  const folders = Array.isArray(listed) ? listed.filter((folder) => typeof folder === 'string') : [];
  const others = await Promise.all(folders.map((folder) => loadConfig(machine, environment, folder)));
  const loaded = uniqueProjects([own, ...others]);
  const configs = loaded.flatMap(({ config }) => config ?? []);
  return {
    configs: configs.length > 0 ? configs : defaultsOnly(),
    folders: loaded.flatMap(({ files }) => files.project.folder ?? []),
    problems: uniqueProblems(loaded.flatMap(({ problems }) => problems)),
  };
}

function uniqueProjects(loaded: readonly LoadedConfig[]): LoadedConfig[] {
  return [...new Map(loaded.map((project) => [project.files.project.file, project])).values()];
}

/** The global file is read for each project; what is wrong with it is said once. */
function uniqueProblems(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}

function defaultsOnly(): Config[] {
  return [resolveConfig([], {}).config].filter((config) => config !== undefined);
}
