// Watches the signal files of all runs and logs what changed. System notifications make it fast; a rescan finds what they
// missed, what the configuration changed, and what happened while the daemon was down.
import { type FSWatcher, mkdirSync } from 'node:fs';
import { basename } from 'node:path';
import { repoOfSignal, type SignalFile, safeSegment } from '@svc/contract/signal-file';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import { watch } from '@svc/lib/paths';
import { every } from '@svc/lib/rounds';
import {
  foldersToWatch,
  listRuns,
  listSignals,
  locationOf,
  MAX_PER_RUN,
  type RunFolders,
  runsIdentity,
  type SignalLocation,
  signalPath,
} from './signal-folder.ts';
import {
  createSignalReads,
  createSignalReporter,
  type KnownSignal,
  type ReporterOptions,
} from './signal-reads.ts';

// System notifications for a changing set of folders. A notification is only a hint: folders that cannot be watched (no
// watches left, a file system without notifications) are left to the rescan.

/** Watches are shared by all programs of a user; a run without one is found by the rescan. */
const MAX_WATCHES = 2_000;

type FolderWatches = {
  /**
   * Watches exactly these folders, each in its current identity: a folder with another identity is watched again.
   * Returns whether a new watch was set up: changes from before have to be looked for.
   */
  keep: (folders: ReadonlyMap<string, string>) => boolean;
  /** How many of the folders have no watch, and why. */
  missing: () => { folders: number; reason: string | null };
  close: () => void;
};

function createFolderWatches({
  onNotice,
}: {
  /** `name` is what changed in the folder; null when the system does not report it, or when the folder itself changed. */
  onNotice: (folder: string, name: string | null) => void;
}): FolderWatches {
  const watches = new Map<string, { identity: string; watcher: FSWatcher }>();
  let unwatched = 0;
  let reason: string | null = null;

  function letGo(folder: string): void {
    watches.get(folder)?.watcher.close();
    watches.delete(folder);
  }

  function begin(folder: string, identity: string): boolean {
    if (watches.size >= MAX_WATCHES) {
      reason = `more than ${MAX_WATCHES} folders`;
      return false;
    }
    try {
      const watcher = watch(folder, { persistent: false }, (kind, name) => {
        if (watches.get(folder)?.watcher !== watcher) return;
        // The folder itself was removed or renamed: the watcher no longer watches this path.
        const itself = kind === 'rename' && name === basename(folder);
        if (itself) letGo(folder);
        onNotice(folder, itself ? null : name);
      });
      watcher.on('error', (error) => {
        reason = error.message;
        if (watches.get(folder)?.watcher === watcher) letGo(folder);
        onNotice(folder, null);
      });
      watches.set(folder, { identity, watcher });
      return true;
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === undefined) throw error;
      // Gone again already: the next scan finds that out.
      if (code !== 'ENOENT') reason = code;
      return false;
    }
  }

  return {
    keep(folders) {
      let began = false;
      unwatched = 0;
      reason = null;
      for (const [folder, { identity }] of watches) {
        if (folders.get(folder) !== identity) letGo(folder);
      }
      for (const [folder, identity] of folders) {
        if (watches.has(folder)) continue;
        if (begin(folder, identity)) began = true;
        else unwatched += 1;
      }
      return began;
    },
    missing: () => ({ folders: unwatched, reason }),
    close() {
      for (const folder of watches.keys()) letGo(folder);
    },
  };
}

/** Folders without a watch are scanned with every poll if a scan is this cheap. */
const CHEAP_SCAN_MS = 20;
/** Folders may appear while the watches of their parents are set up. */
const MOST_ROUNDS = 5;
const MOST_NAMED = 10;

export type WatchSignalsOptions = ReporterOptions & {
  runsDir: string;
  /** All workers that the log knows, so a file that was removed while the daemon was down is noticed. */
  knownWorkers?: () => Iterable<KnownSignal & { orchestrator: string; ticket: string }>;
  /** Each repository named in a signal file, once. */
  onRepo?: (repo: string) => void;
  onProblem?: (error: unknown) => void;
  rescanMs?: number;
  /** How soon a missing or unwatchable runs folder is checked again. */
  pollMs?: number;
  debounceMs?: number;
  graceMs?: number;
};

export type SignalFigures = {
  files: number;
  corrupt: number;
  /** The first ten of them. */
  corruptFiles: string[];
  /** Names that are not read: unsafe names, or not regular files. */
  ignored: number;
  /** The first ten of them. */
  ignoredFiles: string[];
  lastScanAt: string | null;
  problem: string | null;
  /** How to fix the problem. */
  remedy: string;
};

export type SignalWatcher = {
  /** Resolves when every existing file was checked; grace periods may continue. */
  rescan: () => Promise<void>;
  /** Resolves when the log has the current content of this file. */
  sync: (worker: { orchestrator: string; ticket: string }) => Promise<void>;
  figures: () => SignalFigures;
  stop: () => Promise<void>;
};

export function watchSignals(options: WatchSignalsOptions): SignalWatcher {
  const { runsDir, knownWorkers, onRepo, onProblem, now } = options;
  const { rescanMs = 30_000, pollMs = 1_000, debounceMs = 50, graceMs = 500 } = options;
  const repos = new Set<string>();
  const orchestratorOf = new Map<string, string>();
  let rootIdentity: string | null = null;
  let ignored: string[] = [];
  let lastScanAt: string | null = null;
  let scanTookMs = 0;
  let scanProblem: Problem | null = null;
  /** The files that are read, by run. */
  const read = new Map<string, Set<string>>();
  let checkProblem: { message: string; at: number } | null = null;
  let scanTimer: NodeJS.Timeout | null = null;
  let stopped = false;

  const checks = createSignalReads({
    reporter: createSignalReporter(options),
    debounceMs,
    graceMs,
    retryMs: pollMs,
    onSignal: noteRepo,
    onFailure(error) {
      checkProblem = { message: messageOf(error), at: performance.now() };
      onProblem?.(error);
    },
  });
  const watches = createFolderWatches({
    onNotice(folder, name) {
      const orchestrator = orchestratorOf.get(folder);
      if (orchestrator === undefined) {
        // In the folder of a run only the workers folder matters; the run's folder is watched until that exists.
        if (folder === runsDir || name === null || name === 'workers') scanSoon();
        return;
      }
      const location = name === null ? null : locationOf(orchestrator, folder, name);
      if (name === null) scanSoon();
      else if (location !== null && location !== 'ignored') {
        if (isRead(location)) checks.soon(location);
        else scanSoon();
      }
    },
  });

  /** A run whose folder is flooded with files keeps nobody else's from being read. */
  function isRead({ orchestrator, path }: SignalLocation): boolean {
    const paths = read.get(orchestrator) ?? new Set();
    read.set(orchestrator, paths);
    if (paths.size < MAX_PER_RUN) paths.add(path);
    return paths.has(path);
  }

  function noteRepo(signal: SignalFile): void {
    const repo = repoOfSignal(signal);
    if (repo === undefined || repos.has(repo.toLowerCase())) return;
    repos.add(repo.toLowerCase());
    onRepo?.(repo);
  }

  function scanSoon(): void {
    if (stopped || scanTimer !== null) return;
    scanTimer = setTimeout(() => {
      scanTimer = null;
      void scans.runAfresh();
    }, debounceMs);
    scanTimer.unref();
  }

  async function scan(): Promise<void> {
    if (stopped) return;
    const began = performance.now();
    let listed: Awaited<ReturnType<typeof listSignals>>;
    try {
      const found = await watchFolders();
      listed = await listSignals(found.runs);
      rootIdentity = found.identity;
      ignored = [...found.ignored, ...listed.ignored];
      scanProblem = problemOf([...found.problems, ...listed.problems], listed.tooMany, watches.missing());
    } catch (error) {
      // The state of the files is unknown now; that is not the same as their being gone.
      scanProblem = { message: messageOf(error), remedy: CHECK_FOLDER };
      onProblem?.(error);
      return;
    }
    scanTookMs = performance.now() - began;
    // If a run has too many files, those that were read so far stay.
    for (const run of read.keys()) if (!listed.tooMany.includes(run)) read.delete(run);
    const locations = new Map(listed.files.filter(isRead).map((location) => [location.path, location]));
    for (const location of [...checks.locations(), ...locationsInLog()])
      locations.set(location.path, location);
    await Promise.all([...locations.values()].map(checks.now));
    lastScanAt = now().toISOString();
  }

  async function watchFolders(): Promise<RunFolders> {
    let found = await listRuns(runsDir);
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      orchestratorOf.clear();
      for (const { orchestrator, workers } of found.runs)
        if (workers !== null) orchestratorOf.set(workers.path, orchestrator);
      if (!watches.keep(foldersToWatch(runsDir, found))) break;
      found = await listRuns(runsDir);
    }
    return found;
  }

  function locationsInLog(): SignalLocation[] {
    return [...(knownWorkers?.() ?? [])]
      .filter(({ hash, corrupt, removed }) => (hash !== null || corrupt) && !removed)
      .filter(({ orchestrator, ticket }) => safeSegment(orchestrator) && safeSegment(ticket))
      .map(({ orchestrator, ticket }) => ({
        orchestrator,
        ticket,
        path: signalPath(runsDir, orchestrator, ticket),
      }));
  }

  async function poll(): Promise<void> {
    const unwatched = watches.missing().folders > 0 && scanTookMs < CHEAP_SCAN_MS;
    if (unwatched || (await runsIdentity(runsDir)) !== rootIdentity) await scans.runAfresh();
  }

  // A folder that does not exist cannot be watched, and the first worker would be noticed a poll later.
  try {
    mkdirSync(runsDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    onProblem?.(error);
  }
  const failed = (error: unknown): void => onProblem?.(error);
  const scans = every(rescanMs, scan, failed);
  const polls = every(pollMs, poll, failed);
  void scans.runNow();

  return {
    rescan: scans.runAfresh,
    async sync({ orchestrator, ticket }) {
      if (!safeSegment(orchestrator) || !safeSegment(ticket)) return;
      const location = { orchestrator, ticket, path: signalPath(runsDir, orchestrator, ticket) };
      // The first call may join a check that read the file before it changed.
      for (let count = 0; count < 2; count += 1) await checks.now(location);
    },
    figures: () => ({
      ...checks.figures(),
      ignored: ignored.length,
      ignoredFiles: ignored.slice(0, MOST_NAMED),
      lastScanAt,
      problem: scanProblem?.message ?? recent(checkProblem, rescanMs),
      remedy: scanProblem?.remedy ?? CHECK_FOLDER,
    }),
    async stop() {
      stopped = true;
      if (scanTimer !== null) clearTimeout(scanTimer);
      watches.close();
      await checks.stop();
      await polls.stop();
      await scans.stop();
      watches.close();
    },
  };
}

type Problem = { message: string; remedy: string };
const CHECK_FOLDER = 'Check the folder of runs and its permissions.';

function problemOf(
  problems: readonly string[],
  [tooMany]: readonly string[],
  unwatched: { folders: number; reason: string | null },
): Problem | null {
  if (problems[0] !== undefined) return { message: problems[0], remedy: CHECK_FOLDER };
  if (tooMany !== undefined)
    return {
      message: `The run ${tooMany} has too many status files: some of them are not read.`,
      remedy:
        'Archive old runs (svc archive sweep). If the run is not old, look into its folder: files that are not of its tickets do not belong there.',
    };
  if (unwatched.folders === 0 || unwatched.reason === null) return null;
  const message = `${unwatched.folders} folders cannot be watched (${unwatched.reason}); the rescan finds their changes.`;
  return { message, remedy: CHECK_FOLDER };
}

function recent(problem: { message: string; at: number } | null, withinMs: number): string | null {
  return problem !== null && performance.now() - problem.at < withinMs ? problem.message : null;
}
