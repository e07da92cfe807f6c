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

/** `folder` is that of a served project; undefined means the folder that the daemon was started in. */
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

// A fingerprint of an address that is itself a secret. Event lines and GET /api/feeds use the same one for a relay
// channel.

const DIGITS = 16;

export function addressFingerprint(address: string): string {
  return createHash('sha256')
    .update(channelUrl(address) ?? address)
    .digest('hex')
    .slice(0, DIGITS);
}
