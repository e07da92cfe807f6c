// The projects that are served: those in the global file, and the one that the daemon was or is started from. While a
// last good configuration is known, an invalid value affects only its own key, and an unreadable file affects nothing.
// If none is known, whether a merge has to be proven is unknown too.
import { existsSync } from 'node:fs';
import {
  type Config,
  type ConfigProblem,
  type Environment,
  type LastGood,
  unservedDispatch,
} from '@svc/core';
import type { Machine } from './environment.ts';
import { type ConfigFiles, type LoadedConfig, loadConfig } from './load.ts';

/** `by`: why it is served. A project with `start` stays until its folder is gone. */
export type ServedProject = LoadedConfig & { folder: string; by: 'list' | 'start' };

export type Projects = {
  projects: ServedProject[];
  /** The configurations in effect; at least one, possibly only defaults. */
  configs: Config[];
  /** The project of the folder that the daemon was started from, or the configuration without a project. */
  started: LoadedConfig;
  /** For keys of the global file, which are the same for every project. */
  machineWide: Config;
  folders: string[];
  /** A channel that is set only in a project's committed file: anyone who can read the repository knows it. */
  committedChannel: string | undefined;
  /** Every file that a value comes from, or would come from if it existed. */
  files: string[];
  problems: ConfigProblem[];
};

/** Earlier valid values, by the project's folder. */
export type KnownProjects = ReadonlyMap<string, { by: ServedProject['by']; lastGood: LastGood }>;

export async function loadProjects(
  machine: Machine,
  environment: Environment,
  startFolder: string,
  known: KnownProjects = new Map(),
): Promise<Projects> {
  const load = (folder: string, lastGood?: LastGood) => loadConfig(machine, environment, folder, lastGood);
  const started = await load(startFolder);
  const listed = listedIn(started, known);
  const own = started.files.project.folder;
  const remembered = [...known].filter(([folder, { by }]) => by === 'start' && existsSync(folder));
  const wanted = new Map<string, ServedProject['by']>([
    ...(own === undefined ? [] : [[own, 'start'] as const]),
    ...remembered.map(([folder]) => [folder, 'start'] as const),
    ...listed.map((folder) => [folder, 'list'] as const),
  ]);
  const loaded = await Promise.all(
    [...wanted].map(async ([folder, by]): Promise<ServedProject> => {
      // A listed project has a file: if it is missing, that is an error and not a project without settings.
      return { ...(await load(folder, known.get(folder)?.lastGood ?? new Map())), folder, by };
    }),
  );
  const projects = [...new Map(loaded.map((project) => [project.files.project.file, project])).values()];
  const configs = projects.map(({ usable }) => usable);
  return {
    projects,
    configs: configs.length > 0 ? configs : [started.usable],
    started: projects.find(({ folder }) => folder === own) ?? started,
    machineWide: (projects[0] ?? started).usable,
    folders: projects.map(({ folder }) => folder),
    committedChannel: [started, ...projects].map(committedChannel).find((url) => url !== undefined),
    files: [...new Set([started, ...projects].flatMap(({ files }) => filesOf(files)))],
    problems: [
      ...uniqueProblems([started, ...projects].flatMap(({ problems }) => problems)),
      ...unservedDispatch(configs).map((repo) => unserved(repo, started.files.global)),
    ],
  };
}

export function committedChannel({ values, files }: LoadedConfig): string | undefined {
  const { value, source } = values.find(({ key }) => key === 'svc.monitor.github.smeeChannel') ?? {};
  const isCommitted = source !== undefined && 'file' in source && source.file === files.project.file;
  return isCommitted && typeof value === 'string' ? value : undefined;
}

/** A folder that does not exist is not a project, unless it was served before. */
function listedIn({ values }: LoadedConfig, known: KnownProjects): string[] {
  const { value, uncertain = false } = values.find(({ key }) => key === 'svc.projects') ?? {};
  const before = [...known].flatMap(([folder, { by }]) => (by === 'list' ? [folder] : []));
  if (uncertain) return before;
  const folders = Array.isArray(value) ? value.filter((folder) => typeof folder === 'string') : [];
  return folders.filter((folder) => known.has(folder) || existsSync(folder));
}

function filesOf({ project, secrets, global }: ConfigFiles): string[] {
  return [...project.lookedAt, secrets.ownFile ?? secrets.file, global];
}

function unserved(repo: string, file: string): ConfigProblem {
  return {
    severity: 'ignored',
    code: 'incomplete',
    file,
    key: 'svc.orchestration.dispatch',
    message: `has an entry for ${repo}, but no served project has exactly this svc.repository.`,
    remedy: 'Remove the entry, or add the project’s folder to svc.projects.',
  };
}

/** The global file is read for each project; its problems are reported once. */
function uniqueProblems(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}
