// Finds the configuration files. A project is a folder with a project file; it is searched from a starting folder
// upwards, and the searched paths are kept, so "not found" can be explained.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Machine } from './environment.ts';

const projectFileNames = ['.svc/config.json', '.claude/config.json'] as const;

export type ProjectPlace = {
  /** The project's folder, or undefined if none was found. */
  folder: string | undefined;
  /** The project file: the one found, or the one that a first `set` creates. */
  file: string;
  lookedAt: string[];
};

export function locateProject(start: string, home: string): ProjectPlace {
  const lookedAt: string[] = [];
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    for (const name of projectFileNames) {
      const file = join(folder, name);
      lookedAt.push(file);
      if (existsSync(file)) return { folder, file, lookedAt };
    }
    // The search ends at a repository's root: a project in a folder above is another project.
    const isRoot = existsSync(join(folder, '.git')) || folder === home || dirname(folder) === folder;
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

/** Every file that contains exactly one secret. */
export function secretFilesIn(configDir: string): string[] {
  return (['codehost', 'tracker'] as const).flatMap((feed) => [
    webhookSecretFile(configDir, feed),
    relayReadKeyFile(configDir, feed),
  ]);
}
