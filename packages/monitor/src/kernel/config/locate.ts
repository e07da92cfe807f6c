// Finds the configuration files. A project is a folder with a project file; it is searched from a starting folder
// upwards, and the searched paths are kept, so "not found" can be explained.
import { dirname, join, resolve } from 'node:path';
import { isThere } from '@svc/lib/paths';
import type { Machine } from './environment.ts';

const projectFileNames = ['.svc/config.json', '.claude/config.json'] as const;

export type ProjectPlace = {
  /** The project's folder, or undefined if none was found. */
  folder: string | undefined;
  /** The project file: the one found, or the one that a first `set` creates. */
  file: string;
  lookedAt: string[];
};

/** A project file that is there and cannot be read is the project's file: another one must not take its place. */
export async function locateProject(start: string, home: string): Promise<ProjectPlace> {
  const lookedAt: string[] = [];
  const isGone = !(await isThere(start));
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    for (const name of projectFileNames) {
      const file = join(folder, name);
      lookedAt.push(file);
      if (await isThere(file)) return { folder, file, lookedAt };
    }
    // The search ends at a repository's root: a project in a folder above is another project.
    // A folder that is gone has no project above it either.
    const isRoot =
      isGone || folder === home || dirname(folder) === folder || (await isThere(join(folder, '.git')));
    if (isRoot) return { folder: undefined, file: join(resolve(start), projectFileNames[0]), lookedAt };
  }
}

export function globalFile(machine: Machine): string {
  return join(machine.configDir, 'config.json');
}

export function secretsFile(machine: Machine, projectKey: string): string {
  return join(machine.configDir, `config-${projectKey}.json`);
}

export type FeedOfSecret = 'codehost' | 'tracker';

/** The file with a feed's HMAC secret. */
export function webhookSecretFile(configDir: string, feed: FeedOfSecret): string {
  return join(configDir, feed === 'codehost' ? 'webhook-secret' : 'linear-webhook-secret');
}

/** The file with the read key of a feed's channel, if the relay returned one. */
export function relayReadKeyFile(configDir: string, feed: FeedOfSecret): string {
  return join(configDir, feed === 'codehost' ? 'relay-read-key' : 'linear-relay-read-key');
}

/** The keys of this machine in its team. */
export function teamFile(configDir: string): string {
  return join(configDir, 'team.json');
}

/** The file of the team as it was before its last change. */
export function earlierTeamFile(configDir: string): string {
  return `${teamFile(configDir)}.1`;
}

/** Every file that contains exactly one secret. */
export function secretFilesIn(configDir: string): string[] {
  return (['codehost', 'tracker'] as const).flatMap((feed) => [
    webhookSecretFile(configDir, feed),
    relayReadKeyFile(configDir, feed),
  ]);
}
