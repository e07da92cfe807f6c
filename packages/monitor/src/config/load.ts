// Loads the configuration of one project: finds the files, reads them, resolves every value.
import {
  type ConfigFile,
  type ConfigProblem,
  type Environment,
  type Resolution,
  resolveConfig,
} from '@svc/core';
import type { Machine } from './environment.ts';
import { globalFile, locateProject, type ProjectPlace, secretsFile } from './locate.ts';
import { readJsonFile } from './read-json.ts';

export type ConfigFiles = {
  project: ProjectPlace;
  /** Where secrets of this project are read: its own file, or the global one as fallback. */
  secrets: { file: string; ownFile: string | undefined; fallback: boolean };
  global: string;
};

export type LoadedConfig = Resolution & { files: ConfigFiles };

export async function loadConfig(
  machine: Machine,
  environment: Environment,
  start: string,
): Promise<LoadedConfig> {
  const project = locateProject(start, machine.home);
  const broken: ConfigProblem[] = [];
  const projectFile = await take(project.file, ['project'], ['project'], broken);
  const projectKey = keyOf(projectFile);
  const ownFile = projectKey === undefined ? undefined : secretsFile(machine, projectKey);
  const own = ownFile === undefined ? undefined : await take(ownFile, ['secrets'], ['secrets'], broken);
  const ownIsThere = own !== undefined || broken.some((problem) => problem.file === ownFile);
  const shared = await take(
    globalFile(machine),
    ['global', 'secrets'],
    ownIsThere ? ['global'] : ['global', 'secrets'],
    broken,
  );
  const resolution = resolveConfig(
    [projectFile, own, shared].filter((file) => file !== undefined),
    environment,
  );
  return {
    ...resolution,
    config: broken.length > 0 ? undefined : resolution.config,
    problems: [...broken, ...resolution.problems],
    files: {
      project,
      secrets: {
        file: ownIsThere && ownFile ? ownFile : globalFile(machine),
        ownFile,
        fallback: !ownIsThere,
      },
      global: globalFile(machine),
    },
  };
}

async function take(
  path: string,
  layers: ConfigFile['layers'],
  reads: ConfigFile['reads'],
  broken: ConfigProblem[],
): Promise<ConfigFile | undefined> {
  const read = await readJsonFile(path);
  if (read.state === 'broken') broken.push(read.problem);
  if (read.state !== 'read') return undefined;
  return { path, layers, reads, data: read.data, lineOf: read.lineOf };
}

/** The project key as the project file alone gives it: it decides which secrets file is read. */
function keyOf(projectFile: ConfigFile | undefined): string | undefined {
  if (projectFile === undefined) return undefined;
  const { values } = resolveConfig([projectFile], {});
  const key = values.find((value) => value.key === 'svc.projectKey')?.value;
  return typeof key === 'string' ? key : undefined;
}
