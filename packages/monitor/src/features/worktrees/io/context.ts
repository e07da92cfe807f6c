// What every part of the worktrees module uses: where the worktrees of a project are, their records, their locks, and how
// findings are filed for them. Everything that is created for a worktree is in the base folder: `<name>/`, and beside them
// `.records/`, `.logs/` and `.kept/`. A record is written before anything is created and removed after everything is gone,
// so it shows what a killed process left.
import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { safeSegment } from '@svc/contract/signal-file';
import { ifPresent } from '@svc/lib/files';
import { isFolder, lstat, namesIn, realpath } from '@svc/lib/paths';
import type { ReadProcessStarts } from '@svc/lib/system';
import { readJsonFile } from '../../../kernel/config/read-json.ts';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import { worktreeRoot } from '../../../kernel/disk/git-folder.ts';
import { type FileLocks, type Hold, tryHold } from '../../../kernel/disk/lock.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { Config } from '../../config.ts';
import type { RepositoryFacts } from '../../context/setup-variables.ts';
import type { Findings } from '../../findings/io/run-end.ts';
import { worktreeNameOf } from '../branch-name.ts';
import { WorktreeRecord } from '../worktree-record.ts';
import { type Git, type GitWorktree, gitWorktrees, plain } from './git.ts';
import type { Trust } from './trust.ts';

const HOLD_TIMEOUT_MS = 500;

export type WorktreeContext = {
  git: Git;
  layout: Layout;
  records: Records;
  trust: Trust;
  config: Config;
  locks: FileLocks;
  locksDir: string;
  /** The folder of the context stores of all profiles. */
  thoughtsRoot: string;
  findings: Findings;
  environment: Environment;
  stepTimeoutMs: number;
  processStarts: ReadProcessStarts;
  now: () => Date;
};

/** The project's folder in a worktree. */
export const projectIn = ({ layout }: WorktreeContext, worktree: string): string =>
  join(worktree, layout.inside);

export const logFile = (layout: Layout, name: string): string => join(layout.base, '.logs', `${name}.log`);

/** Exclusive use of a name, across processes; undefined when another process has it. */
export async function holdName(context: WorktreeContext, name: string): Promise<Hold | undefined> {
  const deadline = performance.now() + HOLD_TIMEOUT_MS;
  for (;;) {
    const hold = tryHold(lockFileOf(context, name));
    if (hold !== undefined || performance.now() > deadline) return hold;
    // `list` holds a name for a moment, to check whether another process does.
    await sleep(20);
  }
}

export function isHeld(context: WorktreeContext, name: string): boolean {
  const hold = tryHold(lockFileOf(context, name));
  hold?.release();
  return hold === undefined;
}

function lockFileOf({ locksDir, layout }: WorktreeContext, name: string): string {
  const mark = createHash('sha256').update(join(layout.base, name)).digest('hex').slice(0, 16);
  return join(locksDir, `worktree-${name.slice(0, 60)}-${mark}.lock`);
}

export type Found = {
  name: string;
  path: string;
  record: WorktreeRecord | undefined;
  /** As git lists it. */
  entry: GitWorktree | undefined;
  isMain: boolean;
};

/** A worktree by the name of its folder or of its branch. */
export async function findWorktree(context: WorktreeContext, text: string): Promise<Found> {
  const named = worktreeNameOf(text);
  const names = [...(safeSegment(text) ? [text] : []), ...(named.ok ? [named.folder] : [])];
  const entries = await gitWorktrees(context.git, context.layout.main);
  for (const name of new Set(names)) {
    const path = folderIn(context.layout.base, name);
    const record = await context.records.read(name);
    const at = entries.findIndex((entry) => entry.path === path);
    if (record !== undefined || at >= 0) return { name, path, record, entry: entries[at], isMain: at === 0 };
  }
  const byBranch = entries.find(
    (entry) => entry.branch === text && dirname(entry.path) === context.layout.base,
  );
  if (byBranch !== undefined && safeSegment(basename(byBranch.path)) && basename(byBranch.path) !== text)
    return findWorktree(context, basename(byBranch.path));
  throw new Failure(
    'not-registered',
    `There is no worktree ${JSON.stringify(plain(text))} in ${context.layout.base}.`,
    'See: svc worktree list',
  );
}

export async function repositoryFacts({ git, layout, config }: WorktreeContext): Promise<RepositoryFacts> {
  const { svc } = config;
  const remote = await git.ask(layout.main, ['config', '--get', 'remote.origin.url']);
  return {
    repository: svc.repository,
    thoughts: svc.thoughts,
    projectKey: svc.projectKey,
    remoteUrl: remote.exitCode === 0 ? remote.stdout.trim() : undefined,
    folderName: basename(layout.main),
  };
}

/** Records the process of a step, so it can be ended if this process is killed first. */
export async function rememberStep(
  context: WorktreeContext,
  record: WorktreeRecord,
  pid: number,
): Promise<void> {
  const start = (await context.processStarts([pid])).get(pid);
  if (start?.state !== 'running') return;
  await context.records.write({ ...record, step: { pid, mark: start.mark } });
}

export async function removeLog(layout: Layout, name: string): Promise<void> {
  await rm(logFile(layout, name), { force: true });
}

export type Layout = {
  /** The folder of the main worktree, where git commands run. */
  main: string;
  /** The project's folder in the repository, and so in each worktree; empty when it is the root. */
  inside: string;
  /** Its real path, if it exists. */
  base: string;
  /** As git listed them when the layout was determined, without the main one. */
  worktrees: readonly GitWorktree[];
};

export async function findLayout(options: {
  git: Git;
  projectFolder: string;
  config: Config;
  home: string;
  dataDir: string;
  /** Whether to create the base folder. */
  makeBase: boolean;
}): Promise<Layout> {
  const { git, projectFolder } = options;
  const top = await git.ask(projectFolder, ['rev-parse', '--show-toplevel']);
  const [main, ...worktrees] = top.exitCode === 0 ? await gitWorktrees(git, projectFolder) : [];
  if (main === undefined || main.bare) {
    throw new Failure(
      'not-configured',
      `${projectFolder} is not in a git checkout, so it has no worktrees.`,
      'Run the command in a checkout of the project.',
    );
  }
  // Called from a worktree, the layout is still that of the main one.
  const inside = relative(top.stdout.replace(/\n$/, ''), await realpath(projectFolder));
  const wanted = baseFolder({ ...options, projectFolder: join(main.path, inside) });
  if (options.makeBase) await mkdir(wanted, { recursive: true, mode: 0o755 });
  return { main: main.path, inside, base: (await ifPresent(realpath(wanted))) ?? wanted, worktrees };
}

/**
 * Whether nothing was ever made here, seen without git: the daemon lists the worktrees of every project at once, and most
 * have none. A project that is itself in a linked worktree is left to git.
 */
export async function hasNoWorktrees(options: {
  projectFolder: string;
  config: Config;
  home: string;
  dataDir: string;
}): Promise<boolean> {
  const projectFolder = await realpath(options.projectFolder);
  const gitFolder = join(await worktreeRoot(projectFolder), '.git');
  if (!(await isFolder(gitFolder)) || (await namesIn(join(gitFolder, 'worktrees'))).length > 0) return false;
  return (await createRecords(baseFolder({ ...options, projectFolder })).names()).length === 0;
}

/** `svc.orchestration.worktreeDir`, otherwise `wt/<projectKey>` in the data root. */
function baseFolder(options: {
  projectFolder: string;
  config: Config;
  home: string;
  dataDir: string;
}): string {
  const { svc } = options.config;
  const configured = svc.orchestration.worktreeDir;
  if (configured !== null) {
    if (configured === '~') return options.home;
    if (configured.startsWith('~/')) return join(options.home, configured.slice(2));
    return isAbsolute(configured) ? resolve(configured) : resolve(options.projectFolder, configured);
  }
  if (svc.projectKey !== undefined) return join(options.dataDir, 'wt', svc.projectKey);
  throw new Failure(
    'not-configured',
    'The folder for worktrees is not configured: neither svc.orchestration.worktreeDir nor svc.projectKey is set.',
    'Set one: svc config set svc.projectKey <key>',
  );
}

/** The folder of a worktree, which is always directly in the base. */
export function folderIn(base: string, folder: string): string {
  const path = join(base, folder);
  if (dirname(path) !== base || basename(path) !== folder || folder.startsWith('.'))
    throw new Error(`${JSON.stringify(folder)} is not the name of a folder`);
  return path;
}

/** Whether something is at the path, including a dangling link. */
export async function isThere(path: string): Promise<boolean> {
  return (await ifPresent(lstat(path))) !== undefined;
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}

export type Records = {
  read: (name: string) => Promise<WorktreeRecord | undefined>;
  write: (record: WorktreeRecord) => Promise<void>;
  forget: (name: string) => Promise<void>;
  names: () => Promise<string[]>;
};

export function createRecords(base: string): Records {
  const folder = join(base, '.records');
  const fileOf = (name: string): string => join(folder, `${name}.json`);
  return {
    async read(name) {
      const read = await readJsonFile(fileOf(name));
      if (read.state === 'absent') return undefined;
      const parsed = read.state === 'read' ? WorktreeRecord.safeParse(read.data) : undefined;
      if (parsed?.success && parsed.data.name === name) return parsed.data;
      throw new Failure(
        'file-unusable',
        `${fileOf(name)} is not a valid worktree record.`,
        'Check the folder of that worktree, then remove the file.',
      );
    },
    write: (record) => writeFileAtomically(fileOf(record.name), `${JSON.stringify(record, null, 2)}\n`),
    forget: (name) => rm(fileOf(name), { force: true }),
    async names() {
      return (await namesIn(folder)).filter((file) => /^[^.].*\.json$/.test(file)).map((f) => f.slice(0, -5));
    },
  };
}
