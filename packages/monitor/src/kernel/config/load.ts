// Loads the configuration of one project: finds the files, reads them, resolves every value.
import { systemErrorCode } from '@svc/lib/errors';
import { isMissing } from '@svc/lib/files';
import { entriesIn, lookAt } from '@svc/lib/paths';
import { worktreeRoot } from '../disk/git-folder.ts';
import { leadsOut } from '../disk/private-file.ts';
import type { Configuration } from './configuration.ts';
import type { Machine } from './environment.ts';
import { globalFile, locateProject, type ProjectPlace, secretsFile } from './locate.ts';
import type { ConfigProblem } from './problems.ts';
import { readJsonFile, unreadable } from './read-json.ts';
import { type LastGood, type Resolution, resolveConfig } from './resolve.ts';
import type { ConfigFile, Environment } from './resolved-value.ts';

export type ConfigFiles = {
  project: ProjectPlace;
  /** Where the secrets of this project are read: its own file, or the global one as fallback. */
  secrets: { file: string; ownFile: string | undefined; fallback: boolean };
  global: string;
  isGlobalThere: boolean;
};

export type LoadedConfig = Resolution & { files: ConfigFiles };

/** `lastGood`: earlier valid values; they apply where the files are invalid now. */
export async function loadConfig(
  configuration: Configuration,
  machine: Machine,
  environment: Environment,
  start: string,
  lastGood?: LastGood,
): Promise<LoadedConfig> {
  const project = await locateProject(start, machine.home);
  const broken: ConfigProblem[] = [];
  const found = await takeProject(project, broken);
  const projectFile = found ?? (lastGood && (await missing(project.file, start, broken)));
  const projectKey = keyOf(configuration, projectFile, lastGood);
  const ownFile = projectKey === undefined ? undefined : secretsFile(machine, projectKey);
  const own = ownFile === undefined ? undefined : await take(ownFile, ['secrets'], ['secrets'], broken);
  const ownIsThere = own !== undefined;
  const shared = await take(
    globalFile(machine),
    ['global', 'secrets'],
    ownIsThere ? ['global'] : ['global', 'secrets'],
    broken,
  );
  const resolution = resolveConfig(
    configuration,
    [projectFile, own, shared].filter((file) => file !== undefined),
    environment,
    lastGood,
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
      isGlobalThere: shared !== undefined,
    },
  };
}

/** Another user may have committed it as a link to one of this user's files. */
async function takeProject(
  { folder, file }: ProjectPlace,
  broken: ConfigProblem[],
): Promise<ConfigFile | undefined> {
  if (folder === undefined) return take(file, ['project'], ['project'], broken);
  try {
    if (!(await leadsOut(await worktreeRoot(folder), file)))
      return await take(file, ['project'], ['project'], broken);
    const message = 'is a link to a file outside the checkout, so it is not read.';
    return without(file, { severity: 'error', code: 'unreadable', file, key: '', message }, broken);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    // It went away since it was found.
    if (isMissing(error)) return undefined;
    return without(file, unreadable(file, error), broken);
  }
}

/** A project file that is there, with nothing that can be used. */
function without(path: string, problem: ConfigProblem, broken: ConfigProblem[]): ConfigFile {
  broken.push(problem);
  return { path, layers: ['project'], reads: ['project'], data: undefined, lineOf: () => undefined };
}

async function take(
  path: string,
  layers: ConfigFile['layers'],
  reads: ConfigFile['reads'],
  broken: ConfigProblem[],
): Promise<ConfigFile | undefined> {
  const read = await readJsonFile(path);
  if (read.state === 'absent') return undefined;
  if (read.state === 'read') return { path, layers, reads, data: read.data, lineOf: read.lineOf };
  broken.push(read.problem);
  return { path, layers, reads, data: undefined, lineOf: () => undefined };
}

/** A project that was served before had a file, so a missing file is an error. */
async function missing(path: string, folder: string, broken: ConfigProblem[]): Promise<ConfigFile> {
  const problem = { severity: 'error', code: 'unreadable', key: '' } as const;
  if (await isGone(folder)) {
    const message = 'the folder of the project is gone; is its disk mounted?';
    const remedy = 'Mount the disk, or restore the folder. It is read again by itself.';
    return without(path, { ...problem, file: folder, message, remedy }, broken);
  }
  const remedy = 'Restore it. If the project needs no settings, write {} into it.';
  return without(path, { ...problem, file: path, message: 'is missing.', remedy }, broken);
}

/** Nothing is there, or an empty folder: that is what is left of a disk that is not mounted. */
async function isGone(folder: string): Promise<boolean> {
  const look = await lookAt(folder);
  if (look.state !== 'present' || look.kind !== 'folder') return look.state === 'absent';
  const entries = await entriesIn(folder).catch(() => undefined);
  return entries?.length === 0;
}

/** The project key from the project file alone: it decides which secrets file is read. */
function keyOf(
  configuration: Configuration,
  projectFile: ConfigFile | undefined,
  lastGood?: LastGood,
): string | undefined {
  if (projectFile === undefined) return undefined;
  const { values } = resolveConfig(configuration, [projectFile], {}, lastGood);
  const key = values.find((value) => value.key === 'svc.projectKey')?.value;
  return typeof key === 'string' ? key : undefined;
}
