// The files that hold secrets: whether they are there, and whether nobody else can read them. Nothing of what
// they hold is shown.

import { stat } from 'node:fs/promises';
import type { SetupFinding } from '@svc/core';
import { ifPresent } from '@svc/lib/files';
import type { LoadedConfig } from '../../config/load.ts';
import { secretFilesIn } from '../../config/locate.ts';

const check = 'secrets';

export async function checkSecrets(loaded: LoadedConfig, configDir: string): Promise<SetupFinding[]> {
  const { ownFile, file } = loaded.files.secrets;
  const files = [
    ...new Set([
      ...(ownFile === undefined ? [] : [ownFile]),
      loaded.files.global,
      ...secretFilesIn(configDir),
    ]),
  ];
  const wide = (await readableByOthers(files)).map(({ path, mode }) => tooWide(path, mode));
  const place = isInUse(loaded) ? tokenFinding(loaded, file) : [missing(ownFile ?? file)];
  // That a file is there is no good news while others can read it.
  return [...wide, ...place.filter(({ level }) => level !== 'ok' || wide.length === 0)];
}

/** Those of the files that are there with a wider mode than 600. */
export async function readableByOthers(files: readonly string[]): Promise<{ path: string; mode: number }[]> {
  const modes = await Promise.all(files.map(async (path) => ({ path, mode: await modeOf(path) })));
  return modes.flatMap(({ path, mode }) =>
    mode !== undefined && (mode & 0o177) !== 0 ? [{ path, mode }] : [],
  );
}

/** The global file stands in for one of the project's own only where it holds a secret. */
function isInUse({ values, files }: LoadedConfig): boolean {
  const { file, fallback } = files.secrets;
  return (
    !fallback ||
    values.some(({ field, source }) => field.secret && source.kind === 'file' && source.file === file)
  );
}

function tooWide(path: string, mode: number): SetupFinding {
  return {
    check,
    level: 'error',
    found: `${path} has mode ${mode.toString(8)}, and others may read it; it must be 600`,
    remedy: `Run: chmod 600 '${path}'`,
  };
}

function missing(path: string): SetupFinding {
  return {
    check,
    level: 'warning',
    found: `${path} is not there; what needs a token is off`,
    remedy: 'Store one: svc config set svc.tracker.apiToken - < file',
  };
}

function tokenFinding({ values, files }: LoadedConfig, file: string): SetupFinding[] {
  const isSet = (key: string): boolean =>
    values.some((resolved) => resolved.key === key && resolved.value !== undefined);
  const place = files.secrets.fallback ? `${file}, the global file: the project has none of its own` : file;
  if (!isSet('svc.tracker.teamKey') || isSet('svc.tracker.apiToken'))
    return [{ check, level: 'ok', found: place }];
  return [
    {
      check,
      level: 'warning',
      found: `${place}; it has no token for the issue tracker`,
      remedy: 'Store one: svc config set svc.tracker.apiToken - < file',
    },
  ];
}

/** The permissions, or undefined when there is no such file. */
export async function modeOf(path: string): Promise<number | undefined> {
  const stats = await ifPresent(stat(path));
  return stats && stats.mode & 0o777;
}
