// The projects that are served: those in the global file, and the one that the daemon was or is started from. While a
// last good configuration is known, an invalid value affects only its own key, and an unreadable file affects nothing.
// If none is known, whether a merge has to be proven is unknown too. That is so for a listed folder that does not exist,
// and for the list itself: while it cannot be read, it is not known which projects there are.
import { isAbsolute } from 'node:path';
import { createLimit } from '@svc/lib/limit';
import { isThere } from '@svc/lib/paths';
import type { Config, Configuration } from './configuration.ts';
import type { Machine } from './environment.ts';
import { type ConfigFiles, type LoadedConfig, loadConfig } from './load.ts';
import type { ConfigProblem } from './problems.ts';
import type { LastGood } from './resolve.ts';
import type { Environment } from './resolved-value.ts';

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
  /** Whether it is known which projects there are. */
  isListKnown: boolean;
  /** Every file that a value comes from, or would come from if it existed. */
  files: string[];
  problems: ConfigProblem[];
};

/** Resolving a configuration takes milliseconds: a hundred in one go would delay every answer. */
const fewAtOnce = createLimit(4);

/** Earlier valid values, by the project's folder. */
export type KnownProjects = ReadonlyMap<string, { by: ServedProject['by']; lastGood: LastGood }>;

export async function loadProjects(
  configuration: Configuration,
  machine: Machine,
  environment: Environment,
  startFolder: string,
  known: KnownProjects = new Map(),
): Promise<Projects> {
  const load = (folder: string, lastGood?: LastGood) =>
    loadConfig(configuration, machine, environment, folder, lastGood);
  const started = await load(startFolder);
  const { listed, isListKnown, problems: listProblems } = listedIn(started, known);
  const own = started.files.project.folder;
  const remembered = [];
  for (const [folder, { by }] of known)
    if (by === 'start' && (await isThere(folder))) remembered.push(folder);
  const wanted = new Map<string, ServedProject['by']>([
    ...(own === undefined ? [] : [[own, 'start'] as const]),
    ...remembered.map((folder) => [folder, 'start'] as const),
    ...listed.map((folder) => [folder, 'list'] as const),
  ]);
  const loaded = await Promise.all(
    [...wanted].map(async ([folder, by]): Promise<ServedProject> => {
      // A listed project has a file: if it is missing, that is an error and not a project without settings.
      const lastGood = known.get(folder)?.lastGood ?? new Map();
      return { ...(await fewAtOnce(() => load(folder, lastGood))), folder, by };
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
    isListKnown,
    files: [...new Set([started, ...projects].flatMap(({ files }) => filesOf(files)))],
    problems: [
      ...uniqueProblems([started, ...projects].flatMap(({ problems }) => problems)),
      ...listProblems,
      ...configuration.parts.flatMap(
        ({ checkProjects }) => checkProjects?.(projects, started.files.global) ?? [],
      ),
    ],
  };
}

export function committedChannel({ values, files }: LoadedConfig): string | undefined {
  const { value, source } = values.find(({ key }) => key === 'svc.monitor.github.smeeChannel') ?? {};
  const isCommitted = source !== undefined && 'file' in source && source.file === files.project.file;
  return isCommitted && typeof value === 'string' ? value : undefined;
}

/** With an error in its file, or a path that cannot be one, the list is unknown: projects may be missing from it. */
function listedIn(
  { values, problems: all, files: { global: file, isGlobalThere } }: LoadedConfig,
  known: KnownProjects,
): { listed: string[]; isListKnown: boolean; problems: ConfigProblem[] } {
  const key = 'svc.projects';
  const { value, uncertain = false } = values.find((one) => one.key === key) ?? {};
  const before = [...known].flatMap(([folder, { by }]) => (by === 'list' ? [folder] : []));
  if (uncertain) return { listed: before, isListKnown: false, problems: [] };
  if (!isGlobalThere && before.length > 0)
    return { listed: before, isListKnown: false, problems: [lostList(file, before)] };
  const folders = Array.isArray(value) ? value.filter((folder) => typeof folder === 'string') : [];
  const listed = folders.filter((folder) => isAbsolute(folder));
  const problems = folders
    .filter((folder) => !isAbsolute(folder))
    .map((folder): ConfigProblem => {
      const message = `${JSON.stringify(folder)} is not an absolute path, so this project is not served.`;
      const remedy = 'Write the whole path of the folder, without ~.';
      return { severity: 'error', code: 'wrong-type', file, key, message, remedy };
    });
  const isBroken = all.some((problem) => problem.file === file && problem.severity === 'error');
  return { listed, isListKnown: problems.length === 0 && !isBroken, problems };
}

/** The projects stay served: a file that is gone is not a file that lists none. */
function lostList(file: string, before: readonly string[]): ConfigProblem {
  const message = `is missing. It listed ${before.join(', ')}.`;
  const remedy = 'Restore it. If no project is to be served, write {} into it.';
  return { severity: 'error', code: 'unreadable', file, key: '', message, remedy };
}

function filesOf({ project, secrets, global }: ConfigFiles): string[] {
  return [...project.lookedAt, secrets.ownFile ?? secrets.file, global];
}

/** The global file is read for each project; its problems are reported once. */
function uniqueProblems(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}
