// The files of ended runs, and the output of their agents. Only what the archive has, byte for byte, is removed.
import { rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { safeSegment } from '@svc/contract/signal-file';
import { ifPresent } from '@svc/lib/files';
import { lstat, namesIn, syncFolder } from '@svc/lib/paths';
import type { Board } from '../../../kernel/board/board.ts';
import { removeTree } from '../../../kernel/disk/private-file.ts';
import { Failure } from '../../../kernel/failure.ts';
import { findAgents } from '../../agents/io/find-agents.ts';
import { rootFrom } from '../../archive/io/archive-index.ts';
import { type BlobFolder, createBlobFolder, hashOf } from '../../archive/io/blobs.ts';
import { readManifest } from '../../archive/io/manifest-file.ts';
import { type Found, findSources, type SourceFile, withSource } from '../../archive/io/source-files.ts';
import type { ArchivedFile } from '../../archive/manifest.ts';
import { listRuns } from '../../workers/io/signal-folder.ts';
import { retentionOfRun, retentionPolicy } from '../retention.ts';
import type { Candidate, Sources } from './files.ts';

const journal =
  /^run\/workers\/output\/[^/]+(?:\.(?:journal|sent)\.jsonl(?:\.written)?|\.[0-9a-f]{64}\.(?:png|jpeg|gif|webp)|-stream\.jsonl|-stderr\.log)$/;
/** A hidden folder is not a run. */
const REMOVING = '.removing-';
/** How many of the files that are not archived are named. */
const NAMED = 3;

export async function runCandidates(
  sources: Sources,
  note: (path: string, error: unknown) => void,
): Promise<Candidate[]> {
  const { runsDir } = sources.machine;
  const { runs, problems } = await listRuns(runsDir);
  for (const problem of problems) note(runsDir, new Failure('file-unusable', problem));
  const found: Candidate[] = [];
  for (const { orchestrator } of runs) {
    const run = await filesOf(runsDir, orchestrator);
    const output = { ...run, files: run.files.filter(({ path }) => journal.test(path)) };
    found.push(runCandidate(sources, orchestrator, run));
    if (output.files.length > 0) found.push(journalCandidate(sources, orchestrator, output));
  }
  return found;
}

/** A run that a killed daemon was about to remove is a run again; its files are checked again. */
export async function restoreInterrupted(runsDir: string): Promise<void> {
  for (const name of await namesIn(runsDir)) {
    const orchestrator = name.startsWith(REMOVING) ? name.slice(REMOVING.length) : '';
    if (!safeSegment(orchestrator) || (await isThere(join(runsDir, orchestrator)))) continue;
    await rename(join(runsDir, name), join(runsDir, orchestrator));
  }
}

function filesOf(runsDir: string, folder: string): Promise<Found> {
  return findSources({ runsDir, commsDir: join(runsDir, '.none'), orchestrator: folder, runs: new Set() });
}

function runCandidate(sources: Sources, orchestrator: string, { files }: Found): Candidate {
  const { runsDir } = sources.machine;
  const path = join(runsDir, orchestrator);
  return {
    kind: 'runs',
    name: orchestrator,
    path,
    facts: () => factsOf(sources, orchestrator, 'runs', files),
    async look() {
      const found = await filesOf(runsDir, orchestrator);
      const worktrees = await worktreesOf(sources.board(), orchestrator);
      return {
        inUse: [...(await liveAgents(sources, orchestrator)), ...worktrees],
        unsaved: await notArchived(rootOf(sources), orchestrator, found),
      };
    },
    remove: (isDue) =>
      sources.locks.withLock(rootOf(sources), async () => {
        if (!isDue()) throw changed(orchestrator);
        // From here on nobody finds it by its name, so nothing is added to it between the check and the removal.
        const aside = `${REMOVING}${orchestrator}`;
        await rename(path, join(runsDir, aside));
        try {
          const found = await filesOf(runsDir, aside);
          refuseUnsaved(orchestrator, await notArchived(rootOf(sources), orchestrator, found, true));
        } catch (error) {
          await rename(join(runsDir, aside), path);
          throw error;
        }
        await removeTree(join(runsDir, aside));
        await syncFolder(runsDir);
      }),
  };
}

function journalCandidate(sources: Sources, orchestrator: string, output: Found): Candidate {
  const { runsDir } = sources.machine;
  return {
    kind: 'journals',
    name: orchestrator,
    path: join(runsDir, orchestrator, 'workers', 'output'),
    bytes: output.files.reduce((sum, { size }) => sum + size, 0),
    facts: () => factsOf(sources, orchestrator, 'journals', output.files),
    async look() {
      const unsaved = await notArchived(rootOf(sources), orchestrator, { ...output, skipped: [] });
      return { inUse: await liveAgents(sources, orchestrator), unsaved };
    },
    remove: (isDue) =>
      sources.locks.withLock(rootOf(sources), async () => {
        for (const file of output.files) {
          const one = { files: [file], skipped: [] };
          refuseUnsaved(orchestrator, await notArchived(rootOf(sources), orchestrator, one, true));
          if (!isDue()) throw changed(orchestrator);
          await ifPresent(unlink(file.source));
        }
      }),
  };
}

function factsOf(
  { board, config, now }: Sources,
  orchestrator: string,
  kind: 'runs' | 'journals',
  files: readonly SourceFile[],
) {
  const known = retentionOfRun(board(), orchestrator, now().getTime());
  const changedAt =
    known.changedAt === null
      ? null
      : files.reduce((latest, { mtimeMs }) => Math.max(latest, mtimeMs), known.changedAt);
  return { ...retentionPolicy(config(), kind), ...known, changedAt };
}

async function liveAgents({ machine, processStarts, now }: Sources, orchestrator: string): Promise<string[]> {
  const agents = await findAgents({ runsDir: machine.runsDir, orchestrator, processStarts, now });
  return agents
    .filter(({ state }) => state !== 'gone')
    .map(({ ticket, state }) => `the agent of ${ticket} is ${state}`);
}

/** Only the run's files know which run a worktree had. */
async function worktreesOf(board: Board, orchestrator: string): Promise<string[]> {
  const own = [...board.workers.values()].filter((worker) => worker.orchestrator === orchestrator);
  const paths = own.flatMap(({ signal }) => signal?.worktreePath ?? []);
  const reasons: string[] = [];
  for (const path of paths) if (await isThere(path)) reasons.push(`its worktree ${path} exists`);
  return reasons;
}

function rootOf({ config, machine }: Sources): string {
  return rootFrom(config().archive.root, machine.home);
}

function changed(orchestrator: string): Failure {
  return new Failure('not-allowed-now', `${orchestrator} has changed meanwhile.`);
}

function refuseUnsaved(orchestrator: string, unsaved: readonly string[]): void {
  if (unsaved.length > 0)
    throw new Failure('not-allowed-now', `${orchestrator} would lose: ${unsaved.join('; ')}.`);
}

/** Files that the archive does not have. `thorough`: every byte is compared, else sizes and times. */
async function notArchived(
  root: string,
  orchestrator: string,
  { files, skipped }: Found,
  thorough = false,
): Promise<string[]> {
  const reading = await readManifest(root, orchestrator);
  if (reading.state !== 'ok') return [`it is not archived (svc archive sweep ${orchestrator})`];
  const archived = new Map(reading.manifest.files.map((file) => [file.path, file]));
  const blobs = createBlobFolder(join(root, orchestrator));
  const missing = skipped.map(({ path, reason }) => `${path} ${reason}`);
  for (const file of files) {
    const known = archived.get(file.path);
    if (known === undefined || !(await isArchived(file, known, blobs, thorough)))
      missing.push(`${file.path} is not in the archive (svc archive sweep ${orchestrator})`);
    if (missing.length > NAMED) return [...missing.slice(0, NAMED), 'and more'];
  }
  return missing;
}

async function isArchived(
  file: SourceFile,
  known: ArchivedFile,
  blobs: BlobFolder,
  thorough: boolean,
): Promise<boolean> {
  const same = await withSource(file, async ({ size, mtime, bytes }) => {
    if (size !== known.size) return false;
    return thorough ? (await hashOf(bytes())).sha256 === known.sha256 : mtime === known.mtime;
  });
  if (same !== true) return false;
  return thorough ? (await blobs.check(known)) === 'ok' : blobs.holds(known);
}

async function isThere(path: string): Promise<boolean> {
  return (await ifPresent(lstat(path))) !== undefined;
}
