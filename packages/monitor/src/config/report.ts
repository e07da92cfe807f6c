// The configuration of a project as the daemon uses it, for `GET /api/config`.

import { createHash } from 'node:crypto';
import {
  type ConfigReport,
  channelUrl,
  configEntry,
  type ProjectEntry,
  projectEntry,
  reportProblem,
  withoutCredentials,
} from '@svc/core';
import type { Machine } from './environment.ts';
import type { Projects } from './projects.ts';

/** `folder` is that of a project that is served; undefined is the one that the daemon was started in. */
export function reportConfig(
  machine: Machine,
  { projects: served, started }: Projects,
  folder: string | undefined,
  projects: ProjectEntry[],
): ConfigReport {
  const { files, values, problems } = served.find((project) => project.folder === folder) ?? started;
  const { folder: found, file } = files.project;
  return {
    project: found === undefined ? null : projectEntry(found, values).id,
    projects,
    files: {
      project: found === undefined ? null : file,
      secrets: files.secrets.file,
      global: files.global,
    },
    values: values.map((value) => configEntry(value, problems, addressFingerprint)),
    machine: machine.settings.map((setting) => ({ ...setting, value: withoutCredentials(setting.value) })),
    problems: problems.map(reportProblem),
  };
}

// An address that is a key by itself, told apart from another without being told: the same that stands for a relay
// channel in event lines and at GET /api/feeds.

const DIGITS = 16;

export function addressFingerprint(address: string): string {
  return createHash('sha256')
    .update(channelUrl(address) ?? address)
    .digest('hex')
    .slice(0, DIGITS);
}
