// The files that hold secrets: whether they exist, and that no other user can read them or their folders. Their content
// is neither read nor shown.
import { chmod } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { namesIn, reasonOf, stat, Unreadable } from '@svc/lib/paths';
import { type DoctorResult, fixableBy } from '../../../kernel/check/check.ts';
import { doctorFinding, type SetupFinding, setupFinding } from '../../../kernel/check/finding.ts';
import type { Machine } from '../../../kernel/config/environment.ts';
import type { LoadedConfig } from '../../../kernel/config/load.ts';
import { secretFilesIn, teamFile } from '../../../kernel/config/locate.ts';
import { hookMemoryFile } from '../../codehost/io/hooks.ts';
import { providerOf } from '../../tracker/tracker-of.ts';

const STORE_TOKEN = 'Store one: svc config set svc.tracker.apiToken - < file';

/** For one project: its own file, the global one and the daemon's. */
export async function checkSecrets(loaded: LoadedConfig, configDir: string): Promise<SetupFinding[]> {
  const { ownFile, file } = loaded.files.secrets;
  const files = [
    ...new Set([
      ...(ownFile === undefined ? [] : [ownFile]),
      loaded.files.global,
      ...secretFilesIn(configDir),
    ]),
  ];
  const { readable, unusable } = await examine(files);
  const wide = [
    ...readable.map(({ path, mode }) => tooWide(path, mode)),
    ...unusable.map(({ path, reason }) =>
      setupFinding('secrets', 'broken', `${path} ${reason}`, { remedy: moveAway(path) }),
    ),
  ];
  const needsNone = providerOf(loaded.config?.svc.tracker ?? {}) === 'github';
  const place = isInUse(loaded)
    ? tokenFinding(loaded, file)
    : needsNone
      ? [setupFinding('secrets', 'ok', 'none needed: gh reads and moves the tickets')]
      : [missing(ownFile ?? file)];
  // Do not report a file as ok while others can read it.
  return [...wide, ...place.filter(({ grade }) => grade !== 'ok' || wide.length === 0)];
}

type Examined = { readable: { path: string; mode: number }[]; unusable: { path: string; reason: string }[] };

/** The existing files with a wider mode than 600, and what is no file: its mode must stay, it may be that of a device. */
async function examine(files: readonly string[]): Promise<Examined> {
  const found: Examined = { readable: [], unusable: [] };
  for (const path of files)
    try {
      const stats = await ifPresent(stat(path));
      const mode = (stats?.mode ?? 0) & 0o777;
      if (stats?.isFile() === false) found.unusable.push({ path, reason: 'is not a regular file' });
      else if ((mode & 0o177) !== 0) found.readable.push({ path, mode });
    } catch (error) {
      if (!(error instanceof Unreadable) && systemErrorCode(error) === undefined) throw error;
      found.unusable.push({ path, reason: reasonOf(error).replace(/\.$/, '') });
    }
  // What is wrong with configuration is shown with the configuration.
  return {
    ...found,
    unusable: found.unusable.filter(({ path }) => !/^config.*\.json$/.test(basename(path))),
  };
}

const moveAway = (path: string): string => `Move it away: mv '${path}' '${path}.damaged'`;

/** The global file replaces the project's own only if it holds a secret. */
function isInUse({ values, files }: LoadedConfig): boolean {
  const { file, fallback } = files.secrets;
  return (
    !fallback ||
    values.some(({ field, source }) => field.secret && source.kind === 'file' && source.file === file)
  );
}

function tooWide(path: string, mode: number): SetupFinding {
  const what = `${path} has mode ${mode.toString(8)}, so other users can read it; it must be 600`;
  return setupFinding('secrets', 'broken', what, { remedy: `Run: chmod 600 '${path}'` });
}

function missing(path: string): SetupFinding {
  const what = `${path} does not exist; everything that needs a token is off`;
  return setupFinding('secrets', 'warning', what, { remedy: STORE_TOKEN });
}

function tokenFinding({ values, files }: LoadedConfig, file: string): SetupFinding[] {
  const isSet = (key: string): boolean =>
    values.some((resolved) => resolved.key === key && resolved.value !== undefined);
  const place = files.secrets.fallback ? `${file} (the global file; the project has no secrets file)` : file;
  if (!isSet('svc.tracker.teamKey') || isSet('svc.tracker.apiToken'))
    return [setupFinding('secrets', 'ok', place)];
  const what = `${place}; it has no token for the issue tracker`;
  return [setupFinding('secrets', 'warning', what, { remedy: STORE_TOKEN })];
}

/** The permissions, or undefined if the file does not exist. */
async function modeOf(path: string): Promise<number | undefined> {
  const stats = await ifPresent(stat(path));
  return stats && stats.mode & 0o777;
}

/** For the doctor: all files and folders, with the fix. */
export async function checkSecretFiles({ configDir, dataDir }: Machine): Promise<DoctorResult[]> {
  const configs = (await namesIn(configDir))
    .filter((name) => /^config(?:-.*)?\.json$/.test(name))
    .map((name) => join(configDir, name));
  const files = [...configs, ...secretFilesIn(configDir), teamFile(configDir), hookMemoryFile(dataDir)];
  const { readable, unusable } = await examine(files);
  const wide = readable.map(({ path, mode }) =>
    fixableBy(
      doctorFinding('secrets', 'broken', `other users can read ${path}`, {
        evidence: `mode ${mode.toString(8)}, it must be 600`,
        remedy: `Run: chmod 600 '${path}'`,
      }),
      () => setMode(path, 0o600),
    ),
  );
  const damaged = unusable.map(({ path, reason }) =>
    doctorFinding('secrets', 'broken', `${path} ${reason}`, { remedy: moveAway(path) }),
  );
  const folders = [...(await checkFolder(configDir)), ...(await checkFolder(dataDir))];
  if (wide.length + damaged.length + folders.length > 0) return [...wide, ...damaged, ...folders];
  return [doctorFinding('secrets', 'ok', 'no other user can read the files with secrets')];
}

async function checkFolder(path: string): Promise<DoctorResult[]> {
  const mode = await modeOf(path);
  if (mode === undefined || (mode & 0o077) === 0) return [];
  const [grade, access] =
    (mode & 0o022) === 0 ? (['warning', 'list'] as const) : (['broken', 'change the files in'] as const);
  const finding = doctorFinding('secrets', grade, `other users can ${access} ${path}`, {
    evidence: `mode ${mode.toString(8)}, it must be 700`,
    remedy: `Run: chmod 700 '${path}'`,
  });
  return [fixableBy(finding, () => setMode(path, 0o700))];
}

async function setMode(path: string, mode: number): Promise<string> {
  await chmod(path, mode);
  return `set the mode of ${path} to ${mode.toString(8)}`;
}
