// The tracker's token that a project of some key would find: in its own secrets file, else in what stands in for it.
import { resolveConfig } from '@svc/core';
import type { Machine } from '../../config/environment.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { secretsFile } from '../../config/locate.ts';
import { readJsonFile } from '../../config/read-json.ts';

export async function findStoredToken(
  machine: Machine,
  { config, files }: Pick<LoadedConfig, 'config' | 'files'>,
  projectKey: string,
): Promise<string | undefined> {
  const path = secretsFile(machine, projectKey);
  if (files.secrets.ownFile === path) return config?.svc.tracker.apiToken;
  const read = await readJsonFile(path);
  // A key that is new to the project may have a file from another checkout of it.
  if (read.state !== 'read') return files.secrets.fallback ? config?.svc.tracker.apiToken : undefined;
  const own = {
    path,
    layers: ['secrets'],
    reads: ['secrets'],
    data: read.data,
    lineOf: read.lineOf,
  } as const;
  return resolveConfig([own], {}).usable.svc.tracker.apiToken;
}
