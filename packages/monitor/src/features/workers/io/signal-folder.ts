// The location of signal files: `<runs folder>/<orchestrator>/workers/<ticket>.json`. Unsafe names, links and everything
// that is not a regular file are ignored and listed. The runs folder itself may be a link: it is configured, its content
// is not.
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { safeSegment } from '@svc/contract/signal-file';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { entriesIn, lstat, stat } from '@svc/lib/paths';

/** For all runs, and for one: an agent can write into the folder of its own run. */
const MAX_FILES = 20_000;
export const MAX_PER_RUN = 1_000;
const SUFFIX = '.json';

export type SignalLocation = { orchestrator: string; ticket: string; path: string };

/** A run: `workers` is null while that folder does not exist. Identities change when a folder is created again. */
export type RunFolder = {
  orchestrator: string;
  path: string;
  identity: string;
  workers: { path: string; identity: string } | null;
};

/** `problems` are folders that could not be read; the files in them count neither as present nor as gone. */
export type RunFolders = {
  identity: string | null;
  runs: RunFolder[];
  ignored: string[];
  problems: string[];
};

export function signalPath(runsDir: string, orchestrator: string, ticket: string): string {
  return join(runsDir, orchestrator, 'workers', ticket + SUFFIX);
}

/** Changes when the runs folder is created again; null when it does not exist. */
export async function runsIdentity(runsDir: string): Promise<string | null> {
  const root = await ifPresent(stat(runsDir));
  return root === undefined ? null : identityOf(root);
}

/** The existing runs; `identity` is null when there is no runs folder. */
export async function listRuns(runsDir: string): Promise<RunFolders> {
  const found: RunFolders = { identity: await runsIdentity(runsDir), runs: [], ignored: [], problems: [] };
  if (found.identity === null) return found;
  const entries = (await ifPresent(entriesIn(runsDir))) ?? [];
  for (const entry of entries) {
    // Files beside the runs, and hidden folders, are not ours.
    if (entry.isFile() || entry.name.startsWith('.')) continue;
    if (!entry.isDirectory() || !safeSegment(entry.name)) {
      found.ignored.push(join(runsDir, entry.name));
      continue;
    }
    try {
      const run = await readRun(runsDir, entry.name);
      if (run === 'ignored') found.ignored.push(join(runsDir, entry.name));
      else if (run !== null) found.runs.push(run);
    } catch (error) {
      found.problems.push(problemOf(error));
    }
  }
  return found;
}

/** With their identities. The folder of a run matters only until its workers folder exists. */
export function foldersToWatch(runsDir: string, { identity, runs }: RunFolders): Map<string, string> {
  const folders = new Map<string, string>();
  if (identity !== null) folders.set(runsDir, identity);
  for (const { path, identity: own, workers } of runs)
    folders.set(workers?.path ?? path, workers?.identity ?? own);
  return folders;
}

async function readRun(runsDir: string, orchestrator: string): Promise<RunFolder | 'ignored' | null> {
  const path = join(runsDir, orchestrator);
  const workersPath = join(path, 'workers');
  const [run, workers] = await Promise.all([ifPresent(lstat(path)), ifPresent(lstat(workersPath))]);
  if (run === undefined) return null;
  if (!run.isDirectory() || (workers !== undefined && !workers.isDirectory())) return 'ignored';
  return {
    orchestrator,
    path,
    identity: identityOf(run),
    workers: workers === undefined ? null : { path: workersPath, identity: identityOf(workers) },
  };
}

export type SignalLocations = {
  files: SignalLocation[];
  /** Paths of unsafe names, and of what is not a regular file. */
  ignored: string[];
  /** The runs with more files than are read. */
  tooMany: string[];
  problems: string[];
};

export async function listSignals(runs: readonly RunFolder[]): Promise<SignalLocations> {
  const listed: SignalLocations = { files: [], ignored: [], tooMany: [], problems: [] };
  for (const { orchestrator, workers } of runs) {
    if (workers === null) continue;
    try {
      const entries = (await ifPresent(entriesIn(workers.path))) ?? [];
      const found: SignalLocation[] = [];
      for (const entry of entries) {
        const location = locationOf(orchestrator, workers.path, entry.name);
        if (location === null) continue;
        if (location === 'ignored' || !entry.isFile()) listed.ignored.push(join(workers.path, entry.name));
        else found.push(location);
      }
      const most = Math.min(MAX_PER_RUN, MAX_FILES - listed.files.length);
      listed.files.push(...found.slice(0, most));
      if (found.length > most) listed.tooMany.push(orchestrator);
    } catch (error) {
      listed.problems.push(problemOf(error));
    }
  }
  return listed;
}

/** The signal file that a name in a workers folder stands for; null when it is not a signal file. */
export function locationOf(
  orchestrator: string,
  workersPath: string,
  name: string,
): SignalLocation | 'ignored' | null {
  if (!name.endsWith(SUFFIX) || name.startsWith('.')) return null;
  const ticket = name.slice(0, -SUFFIX.length);
  return safeSegment(ticket) ? { orchestrator, ticket, path: join(workersPath, name) } : 'ignored';
}

function identityOf({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev}:${ino}:${birthtimeMs}`;
}

function problemOf(error: unknown): string {
  if (systemErrorCode(error) === undefined || !(error instanceof Error)) throw error;
  return error.message;
}
