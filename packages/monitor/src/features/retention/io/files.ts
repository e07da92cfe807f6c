// Archives and the daemon's own logs.
import { unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifPresent } from '@svc/lib/files';
import { createLimit } from '@svc/lib/limit';
import { lstat, namesIn, realpath } from '@svc/lib/paths';
import type { ReadProcessStarts } from '@svc/lib/system';
import type { Board } from '../../../kernel/board/board.ts';
import type { Machine } from '../../../kernel/config/environment.ts';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import { Failure } from '../../../kernel/failure.ts';
import { logFileOf } from '../../../kernel/instance/log-file.ts';
import { findAgents } from '../../agents/io/find-agents.ts';
import { rootFrom, withArchiveIndex } from '../../archive/io/archive-index.ts';
import { pruneArchives } from '../../archive/io/prune.ts';
import type { Config } from '../../config.ts';
import type { Orchestrator } from '../../runs/io/orchestrator.ts';
import type { RunProjects } from '../../runs/io/run-project.ts';
import { isLost, lossLines } from '../../worktrees/io/inspect.ts';
import type { ListedWorktree, Worktrees } from '../../worktrees/io/worktrees.ts';
import type { RetentionItem } from '../api.ts';
import {
  type RetentionFacts,
  retentionOfArchive,
  retentionOfWorktree,
  retentionPolicy,
} from '../retention.ts';

const DAY_MS = 86_400_000;
/** Each is asked for by several processes of git. */
const PROJECTS_AT_ONCE = 4;
const nothing = async () => ({ inUse: [], unsaved: [] });

export async function archiveCandidates(
  { machine, config, board, locks, now }: Sources,
  note: (path: string, error: unknown) => void,
): Promise<Candidate[]> {
  const root = rootFrom(config().archive.root, machine.home);
  const { databaseFile } = machine;
  const runs = await withArchiveIndex(databaseFile, root, async (index) => index.runs()).catch(
    (error: unknown) => {
      note(root, error);
      return [];
    },
  );
  return runs
    .filter(({ prunedAt }) => prunedAt === null)
    .map(({ orchestrator, archivedAt, storedBytes }) => ({
      kind: 'archives',
      name: orchestrator,
      path: join(root, orchestrator),
      bytes: storedBytes,
      facts: () => ({
        ...retentionPolicy(config(), 'archives'),
        ...retentionOfArchive(board(), orchestrator, archivedAt),
      }),
      look: nothing,
      async remove(isDue) {
        const days = config().archive.retention.days ?? Number.POSITIVE_INFINITY;
        const isWanted = (name: string): boolean => name === orchestrator && isDue();
        const pruned = await withArchiveIndex(databaseFile, root, (index) =>
          pruneArchives({
            root,
            index,
            locks,
            ageMs: days * DAY_MS,
            isWanted,
            now: () => now().getTime(),
          }),
        );
        if (pruned.length === 0)
          throw new Failure('not-allowed-now', `The archive of ${orchestrator} has changed meanwhile.`);
      },
    }));
}

/** The daemon writes to one file and keeps the one before. */
export async function logCandidates({ machine, config }: Sources): Promise<Candidate[]> {
  const folder = dirname(logFileOf(machine.dataDir));
  const found: Candidate[] = [];
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const stats = await ifPresent(lstat(path));
    if (stats?.isFile() !== true) continue;
    const inUse = name.endsWith('.1') ? [] : ['it is being written'];
    found.push({
      kind: 'logs',
      name,
      path,
      bytes: stats.size,
      facts: () => ({ ...retentionPolicy(config(), 'logs'), changedAt: stats.mtimeMs, inUse, attention: [] }),
      look: nothing,
      async remove() {
        // Rotated meanwhile: this is another log.
        if ((await lstat(path)).ino !== stats.ino)
          throw new Failure('not-allowed-now', `${name} has changed meanwhile.`);
        await unlink(path);
      },
    });
  }
  return found;
}

// What the policy may remove: where it comes from, what is known about it, and how it is removed.

/** Something that may be removed. */
export type Candidate = Pick<RetentionItem, 'kind' | 'name' | 'path'> & {
  /** What the board knows at this moment. Whether something would be lost, `look` finds out. */
  facts: () => Omit<RetentionFacts, 'unsaved'>;
  /** What only the disk knows; asked only if nothing else keeps it. */
  look: () => Promise<Pick<RetentionFacts, 'inUse' | 'unsaved'>>;
  /** Bytes, if they are known without reading the disk. */
  bytes?: number;
  /** Rejects with the reason when it was not removed. `isDue` is asked at the last moment. */
  remove: (isDue: () => boolean) => Promise<void>;
};

export type Sources = {
  machine: Pick<Machine, 'home' | 'dataDir' | 'runsDir' | 'eventsDir' | 'databaseFile'>;
  config: () => Config;
  /** Throws until the log has been read completely. */
  board: () => Board;
  folders: () => readonly string[];
  projects: RunProjects;
  cleanUp: Orchestrator['cleanUp'];
  locks: FileLocks;
  processStarts: ReadProcessStarts;
  now: () => Date;
};

// Worktrees of ended runs. They are removed by `worktrees.remove`, which refuses to lose work.

export async function worktreeCandidates(
  sources: Sources,
  note: (path: string, error: unknown) => void,
): Promise<Candidate[]> {
  const listOne = createLimit(PROJECTS_AT_ONCE);
  const listed = await Promise.all(
    sources.folders().map((folder) => listOne(() => candidatesOfProject(sources, folder, note))),
  );
  return [...new Map(listed.flat().map((candidate) => [candidate.path, candidate])).values()];
}

async function candidatesOfProject(
  sources: Sources,
  folder: string,
  note: (path: string, error: unknown) => void,
): Promise<Candidate[]> {
  try {
    const project = await realpath(folder);
    const { worktrees } = await sources.projects.of(project);
    const listed = await worktrees.list();
    return listed.map((worktree) => candidateOf(sources, project, worktrees, worktree));
  } catch (error) {
    // A project that is not a repository has no worktrees.
    if (!(error instanceof Failure && error.code === 'not-configured')) note(folder, error);
    return [];
  }
}

function candidateOf(
  sources: Sources,
  project: string,
  worktrees: Worktrees,
  { name, path, state, locked, made }: ListedWorktree,
): Candidate {
  const { board, config, now, processStarts } = sources;
  const { runsDir } = sources.machine;
  const known = () => retentionOfWorktree(board(), { name, path }, now().getTime());
  const reasons = [
    ...(state === 'ready' ? [] : [`it is ${state}`]),
    ...(locked ? ['it is locked'] : []),
    ...(made === null ? ['svc did not create it'] : []),
  ];
  return {
    kind: 'worktrees',
    name,
    path,
    facts() {
      const { inUse, changedAt, attention } = known();
      const madeAt = Date.parse(made?.at ?? '');
      return {
        ...retentionPolicy(config(), 'worktrees'),
        changedAt: changedAt === null ? null : Math.max(changedAt, madeAt),
        inUse: reasons.length > 0 ? [...reasons, ...(inUse ?? [])] : inUse,
        attention,
      };
    },
    async look() {
      const inUse: string[] = [];
      for (const orchestrator of known().orchestrators)
        for (const agent of await findAgents({ runsDir, orchestrator, processStarts, now }))
          if (agent.state !== 'gone') inUse.push(`the agent of ${agent.ticket} is ${agent.state}`);
      const { losses } = await worktrees.inspect(name);
      return { inUse, unsaved: isLost(losses) ? lossLines(losses) : [] };
    },
    async remove(isDue) {
      const [orchestrator = ''] = known().orchestrators;
      const wanted = { orchestrator, plan: { project }, tickets: [name] };
      const [done] = await sources.cleanUp(wanted, isDue);
      if (done === undefined) throw new Failure('not-allowed-now', `${name} has changed meanwhile.`);
      if (done.kept !== null) throw new Failure('not-allowed-now', done.kept);
    },
  };
}
