// Copies the files of runs into the archive. A run's own files stay where they are: removing them is up to their owner.
// Sweeping again changes nothing; an interrupted sweep is finished by the next.
import { join } from 'node:path';
import type { WorkerStatus } from '@svc/contract/signal-file';
import { systemErrorCode } from '@svc/lib/errors';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import { makeFolder, removeTree } from '../../../kernel/disk/private-file.ts';
import { Failure } from '../../../kernel/failure.ts';
import { readSignal } from '../../workers/io/read-signal.ts';
import { listRuns, listSignals, type RunFolder } from '../../workers/io/signal-folder.ts';
import { whyNotEnded } from '../archive-rules.ts';
import { type ArchiveManifest, archiveSizes, EVENTS_PATH } from '../manifest.ts';
import {
  type ArchiveIndex,
  type IndexedRun,
  listArchives,
  repairArchives,
  workFolder,
} from './archive-index.ts';
import {
  type ArchivedRun,
  archiveRun,
  type CollectedLines,
  collectRunLines,
  type LinesOfRun,
} from './archive-run.ts';
import { BlobDamaged, createBlobFolder } from './blobs.ts';
import { readManifest } from './manifest-file.ts';
import { type Found, findSources } from './source-files.ts';

type SweepProgress = { orchestrator: string; run: number; runs: number; bytes: number };

export type SweepOptions = {
  root: string;
  runsDir: string;
  commsDir: string;
  eventsDir: string;
  index: ArchiveIndex;
  locks: FileLocks;
  /** Only this run, whether or not it has ended, and read completely again. */
  only?: string | undefined;
  dryRun?: boolean;
  now: () => number;
  /** When aborted, no further run is started. */
  signal?: AbortSignal;
  onProgress?: (progress: SweepProgress) => void;
  /** Called after a run is archived, even if nothing had changed. */
  onArchived?: (manifest: ArchiveManifest) => Promise<void>;
};

export type SweptRun = {
  orchestrator: string;
  outcome: ArchivedRun['outcome'] | 'waiting' | 'failed';
  reason?: string;
  files: number;
  bytes: number;
  storedBytes: number;
  skipped: ArchiveManifest['skipped'];
};

export async function sweepRuns(options: SweepOptions): Promise<SweptRun[]> {
  const { root, dryRun = false, locks } = options;
  if (dryRun) return sweepAll(options, undefined);
  makeFolder(root, 0o700);
  return locks.withLock(root, async () => {
    await repairArchives(root, options.index);
    const work = workFolder(root);
    try {
      return await sweepAll(options, work);
    } finally {
      await removeTree(work);
    }
  });
}

type Candidate = {
  orchestrator: string;
  folder: RunFolder;
  previous: ArchiveManifest | undefined;
  indexed: IndexedRun | undefined;
  linesAfter: number;
};

async function sweepAll(options: SweepOptions, work: string | undefined): Promise<SweptRun[]> {
  const { root, runsDir, eventsDir, only, index, onProgress, signal } = options;
  const { runs } = await listRuns(runsDir);
  const candidates: Candidate[] = [];
  for (const folder of runs) {
    if (only !== undefined && folder.orchestrator !== only) continue;
    const reading = await readManifest(root, folder.orchestrator);
    const previous = reading.state === 'ok' ? reading.manifest : undefined;
    const { orchestrator } = folder;
    const indexed = index.run(orchestrator);
    const linesAfter = await archivedUpTo(options, previous, indexed);
    candidates.push({ orchestrator, folder, previous, indexed, linesAfter });
  }
  if (only !== undefined && candidates.length === 0)
    throw new Failure('unknown-run', `There is no run ${only} in ${runsDir}.`, 'See: svc archive list');
  const after = new Map(candidates.map(({ orchestrator, linesAfter }) => [orchestrator, linesAfter]));
  const lines = await collectRunLines({ folder: eventsDir, after, into: work });
  const names = new Set([...runs.map(({ orchestrator }) => orchestrator), ...(await listArchives(root))]);
  const swept: SweptRun[] = [];
  for (const [number, candidate] of candidates.entries()) {
    if (signal?.aborted === true) break;
    const { orchestrator } = candidate;
    const report = { orchestrator, run: number + 1, runs: candidates.length };
    onProgress?.({ ...report, bytes: 0 });
    const onBytes = (bytes: number): void => onProgress?.({ ...report, bytes });
    swept.push(await sweepOne(options, candidate, lines, names, onBytes));
  }
  return swept;
}

/** The last line that was scanned, or 0 when its blob is damaged. */
async function archivedUpTo(
  { root, only }: SweepOptions,
  previous: ArchiveManifest | undefined,
  indexed: IndexedRun | undefined,
): Promise<number> {
  if (previous === undefined) return 0;
  const events = previous.files.find(({ path }) => path === EVENTS_PATH);
  if (events !== undefined) {
    const blobs = createBlobFolder(join(root, previous.orchestrator));
    const isIntact = only === undefined ? await blobs.holds(events) : (await blobs.check(events)) === 'ok';
    if (!isIntact) return 0;
  }
  return Math.max(previous.lastSeq, indexed?.scannedSeq ?? 0);
}

async function sweepOne(
  options: SweepOptions,
  candidate: Candidate,
  collected: CollectedLines,
  runs: ReadonlySet<string>,
  onBytes: (bytes: number) => void,
): Promise<SweptRun> {
  const { root, runsDir, commsDir, eventsDir, index, only, dryRun = false, now } = options;
  const { orchestrator, previous, indexed, linesAfter } = candidate;
  const nothing = { orchestrator, files: 0, bytes: 0, storedBytes: 0, skipped: [] };
  try {
    const found = await findSources({ runsDir, commsDir, orchestrator, runs });
    const lines = collected.of(orchestrator);
    const reason = only === undefined ? await whyWait(candidate, found, lines, now()) : undefined;
    if (reason !== undefined) return { ...nothing, outcome: 'waiting', reason };
    const archived = await archiveRun({
      root,
      orchestrator,
      found,
      lines,
      linesAfter,
      eventsDir,
      previous,
      identities: new Map(index.files(orchestrator).map(({ path, identity }) => [path, identity])),
      thorough: only !== undefined,
      dryRun,
      now: now(),
      onBytes,
    });
    const { outcome, manifest, sha256, identities } = archived;
    if (!dryRun) {
      const scannedSeq = Math.max(collected.scannedSeq, manifest.lastSeq, indexed?.scannedSeq ?? 0);
      if (sha256 === null) index.note(orchestrator, scannedSeq, identities);
      else {
        index.put(manifest, sha256, scannedSeq, identities);
        await createBlobFolder(join(root, orchestrator)).tidy(manifest.files);
      }
      await options.onArchived?.(manifest);
    }
    const { files, skipped } = manifest;
    return { orchestrator, outcome, files: files.length, ...archiveSizes(files), skipped };
  } catch (error) {
    // One run that cannot be archived does not stop the others.
    return { ...nothing, outcome: 'failed', reason: failureOf(error) };
  }
}

async function whyWait(
  { folder, previous, indexed }: Candidate,
  found: Found,
  lines: LinesOfRun,
  now: number,
): Promise<string | undefined> {
  const times = found.files.map(({ mtimeMs }) => mtimeMs);
  const changedAt = [...times, Date.parse(lines.lastAt ?? '1970-01-01')].reduce((a, b) => Math.max(a, b), 0);
  const prunedAt = indexed?.prunedAt ?? null;
  if (prunedAt !== null && changedAt <= Date.parse(prunedAt)) return 'its archive was pruned';
  const state = lines.state ?? previous?.state ?? 'unknown';
  return whyNotEnded({ state, statuses: await statusesOf(folder), changedAt }, now);
}

async function statusesOf(folder: RunFolder): Promise<(WorkerStatus | null)[]> {
  const { files, problems, tooMany } = await listSignals([folder]);
  const statuses: (WorkerStatus | null)[] = problems.length + tooMany.length > 0 ? [null] : [];
  for (const location of files) {
    const reading = await readSignal(location);
    if (reading.state === 'ok') statuses.push(reading.signal.status);
    if (reading.state === 'corrupt' && reading.foreign !== true) statuses.push(null);
  }
  return statuses;
}

function failureOf(error: unknown): string {
  const isExpected =
    systemErrorCode(error) !== undefined || error instanceof BlobDamaged || error instanceof Failure;
  if (!isExpected || !(error instanceof Error)) throw error;
  return error.message;
}
