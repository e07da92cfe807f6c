// Which secret we last gave to which hook, as fingerprints: the code host never tells a hook's secret, so that
// this is how a rotation is noticed. Losing the file costs one needless mend per hook.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repoKey } from '@svc/core';
import { writeFileAtomically } from '../disk/atomic-write.ts';

export type HookMemory = {
  /** The repositories that have or had a hook of ours. */
  repos: () => string[];
  fingerprintOf: (repo: string, hookId: number) => string | undefined;
  remember: (repo: string, hookId: number, fingerprint: string) => Promise<void>;
};

export const hookMemoryFile = (dataDir: string): string => join(dataDir, 'hook-secrets.json');

/** Tells two secrets apart; the secret cannot be had from it. */
export function secretFingerprint(secret: string): string {
  return createHash('sha256').update(`svc hook secret\n${secret}`).digest('hex').slice(0, 16);
}

export async function openHookMemory(path: string): Promise<HookMemory> {
  const known = new Map(Object.entries(await readKnown(path)));
  let writing: Promise<void> = Promise.resolve();
  return {
    repos: () => [...new Set([...known.keys()].map(repoIn))],
    fingerprintOf: (repo, hookId) => known.get(keyOf(repo, hookId)),
    async remember(repo, hookId, fingerprint) {
      known.set(keyOf(repo, hookId), fingerprint);
      const write = (): Promise<void> =>
        writeFileAtomically(path, `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`, { mode: 0o600 });
      writing = writing.then(write, write);
      await writing;
    },
  };
}

function keyOf(repo: string, hookId: number): string {
  return `${repoKey(repo)}#${hookId}`;
}

function repoIn(key: string): string {
  return key.replace(/#\d+$/, '');
}

/** A file that is missing or broken knows nothing. */
async function readKnown(path: string): Promise<Record<string, string>> {
  const text = await readFile(path, 'utf8').catch(() => '{}');
  try {
    const value: unknown = JSON.parse(text);
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    return Object.fromEntries(
      entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
