// Version drift: compares the running version with the newest one in the plugin cache.
import { join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { isFolder, lookNow, readdir, readTextNow } from '@svc/lib/paths';
import { compareBuild, lt, parse } from 'semver';

export type Drift = { runningVersion: string; latestAvailableVersion: string | null; isStale: boolean };

/** The version that this svc would run: from the version file, or the build's if there is none. */
export function ownVersion(versionFile: string | undefined, build: string): string {
  return (versionFile === undefined ? undefined : whenThere(() => readTextNow(versionFile).trim())) || build;
}

export async function measureDrift(runningVersion: string, cacheRoot: string): Promise<Drift> {
  const latestAvailableVersion = await latestIn(cacheRoot);
  return { runningVersion, latestAvailableVersion, isStale: isOlder(runningVersion, latestAvailableVersion) };
}

/** The highest folder name that is a semantic version; pre-releases sort before their release. */
async function latestIn(cacheRoot: string): Promise<string | null> {
  const names = await readdir(cacheRoot).catch((error: unknown) => {
    if (systemErrorCode(error) === undefined) throw error;
    return [];
  });
  const versions: string[] = [];
  for (const name of names)
    if (/^\d/.test(name) && parse(name) !== null && (await isFolder(join(cacheRoot, name))))
      versions.push(name);
  return versions.toSorted(compareBuild).at(-1) ?? null;
}

/** A version that is not semantic cannot be compared, so it does not count as older. */
function isOlder(version: string, latest: string | null): boolean {
  return latest !== null && parse(version) !== null && lt(version, latest);
}

export type DriftWarning = { warning: string; remedy: string };

/**
 * The warning for a version that is not the newest, with the command that fixes it.
 * `own` is the version of this svc: a restart with it may be enough.
 */
export function driftWarning(drift: Drift, own: string, cacheRoot: string): DriftWarning | undefined {
  const { runningVersion, latestAvailableVersion: latest, isStale } = drift;
  if (isStale && latest !== null && isOlder(own, latest)) {
    const newer = join(cacheRoot, latest, 'bin', 'svc-monitor.sh');
    return {
      warning: `version ${runningVersion} is older than the installed ${latest}.`,
      remedy:
        lookNow(newer).state === 'present'
          ? `Switch to it: '${newer}' restart`
          : 'Update svc, then run: svc monitor restart',
    };
  }
  // A program that runs from source has no version of its own.
  if (isOlder(own, runningVersion) && !own.startsWith('0.0.0-'))
    return {
      warning: `this svc (${own}) is older than the daemon, which runs version ${runningVersion}.`,
      remedy: 'Update svc, or find the newer one: type -a svc',
    };
  if (!isOlder(runningVersion, own)) return undefined;
  return {
    warning: `the daemon runs version ${runningVersion}, older than this svc (${own}).`,
    remedy: 'Switch to it: svc monitor restart',
  };
}

function whenThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}
