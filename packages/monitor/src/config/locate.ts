// Finds the configuration files. A project is a folder with a project file in it; it is looked for from
// a starting folder upwards, and what was looked at is kept, so that "not found" can be explained.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Machine } from './environment.ts';

const projectFileNames = ['.svc/config.json', '.claude/config.json'] as const;

export type ProjectPlace = {
  /** The project's folder, or undefined where none was found. */
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
    // A repository's root ends the search: the project of a folder above is another project.
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

/** The file that holds a feed's HMAC secret. */
export function webhookSecretFile(configDir: string, feed: FeedOfSecret): string {
  return join(configDir, feed === 'codehost' ? 'webhook-secret' : 'linear-webhook-secret');
}

/** The file that holds the read key of a feed's channel, where the relay gave one. */
export function relayReadKeyFile(configDir: string, feed: FeedOfSecret): string {
  return join(configDir, feed === 'codehost' ? 'relay-read-key' : 'linear-relay-read-key');
}

/** Every file that holds one secret and nothing else. */
export function secretFilesIn(configDir: string): string[] {
  return (['codehost', 'tracker'] as const).flatMap((feed) => [
    webhookSecretFile(configDir, feed),
    relayReadKeyFile(configDir, feed),
  ]);
}
