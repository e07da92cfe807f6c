// The configuration of a project as it is on the disk now, for `GET /api/config`.
import {
  type ConfigReport,
  configEntry,
  type Environment,
  formatProblem,
  type ProjectEntry,
  projectEntry,
  withoutCredentials,
} from '@svc/core';
import { addressFingerprint } from './address-fingerprint.ts';
import type { Machine } from './environment.ts';
import { loadConfig } from './load.ts';

/** `folder` is anywhere in the project. */
export async function reportConfig(
  machine: Machine,
  environment: Environment,
  folder: string,
  projects: ProjectEntry[],
): Promise<ConfigReport> {
  const { files, values, problems } = await loadConfig(machine, environment, folder);
  const { folder: found, file } = files.project;
  return {
    project: found === undefined ? null : projectEntry(found, values).id,
    projects,
    files: {
      project: found === undefined ? null : file,
      secrets: files.secrets.file,
      global: files.global,
    },
    values: values.map((value) => configEntry(value, addressFingerprint)),
    machine: machine.settings.map((setting) => ({ ...setting, value: withoutCredentials(setting.value) })),
    problems: problems.map((problem) => ({ severity: problem.severity, text: formatProblem(problem) })),
  };
}

export async function listProjects(
  machine: Machine,
  environment: Environment,
  folders: readonly string[],
): Promise<ProjectEntry[]> {
  return Promise.all(
    folders.map(async (folder) =>
      projectEntry(folder, (await loadConfig(machine, environment, folder)).values),
    ),
  );
}
