// The worktrees of all projects, with git's records of them and the branches that svc created. Unsaved work becomes a bundle.
import { dirname, join } from 'node:path';
import { ifPresent } from '@svc/lib/files';
import { isFolder, isThere, lstat, namesIn, readText } from '@svc/lib/paths';
import { shellQuoted } from '@svc/lib/shell-quoted';
import { plainText } from '../../../cli/kit/text.ts';
import type { ServedProject } from '../../../kernel/config/projects.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../kernel/failure.ts';
import { Config } from '../../config.ts';
import { isLost, type Losses, lossLines } from '../../worktrees/io/inspect.ts';
import type { ListedWorktree, Worktrees } from '../../worktrees/io/worktrees.ts';
import { openWorktrees } from '../../worktrees/verbs/open-worktrees.ts';
import {
  type Item,
  type Leaving,
  type Left,
  orLeft,
  type Part,
  type Report,
  removeEmpty,
  type Saved,
} from './part.ts';

const LIST = 'restore.txt';

/** A repository, and the folder in which svc keeps its worktrees. */
type Place = { folder: string; base: string; keepIn: string; worktrees: Worktrees; list: ListedWorktree[] };

export async function worktreesPart(leaving: Leaving, projects: readonly ServedProject[]): Promise<Part> {
  const root = join(leaving.session.machine.dataDir, 'wt');
  const { places, known, items } = await findPlaces(leaving, root, projects);
  for (const { worktrees, list, keepIn } of places)
    for (const listed of list) items.push(await itemOf(worktrees, listed, keepIn));
  return {
    items,
    async act(report) {
      const left: Left[] = [];
      for (const place of places) left.push(...(await leave(leaving, place, report)));
      for (const { folder, keepIn } of known) await listUnlisted(report, folder, keepIn);
      await removeEmpty(root);
      return left;
    },
  };
}

async function findPlaces(
  leaving: Leaving,
  root: string,
  projects: readonly ServedProject[],
): Promise<{ places: Place[]; known: Pick<Place, 'folder' | 'keepIn'>[]; items: Item[] }> {
  const { terminal, session, keptFolder } = leaving;
  const places: Place[] = [];
  const known: Pick<Place, 'folder' | 'keepIn'>[] = [];
  const items: Item[] = [];
  const open = async (folder: string, name: string, config: Config): Promise<void> => {
    const worktrees = openWorktrees(terminal, session, { folder, config });
    const keepIn = join(keptFolder, name);
    known.push({ folder, keepIn });
    const base = await worktrees.base().catch(unlessFailure);
    // Not a checkout, or not configured for worktrees.
    if (base === undefined || !(await isThere(base))) return;
    places.push({ folder, base, keepIn, worktrees, list: await worktrees.list() });
  };
  const names = (await ifPresent(lstat(root)))?.isDirectory() === true ? await namesIn(root) : [];
  const isLink = new Set<string>();
  for (const name of names) if ((await lstat(join(root, name))).isSymbolicLink()) isLink.add(name);
  const own = new Set<string>();
  for (const { folder, usable } of projects) {
    const { projectKey = 'project', orchestration } = usable.svc;
    if (orchestration.worktreeDir === null) {
      own.add(projectKey);
      if (isLink.has(projectKey)) {
        const why = 'it is a link, and svc does not look behind it; the link is removed with the data';
        items.push({ action: 'keep', what: `what is behind ${join(root, projectKey)}`, why });
        continue;
      }
    }
    if (await isFolder(folder)) await open(folder, projectKey, usable);
  }
  // Projects that are not registered any more.
  for (const name of names) {
    if (own.has(name) || isLink.has(name)) continue;
    const main = await mainOf(join(root, name));
    if (main !== undefined) await open(main, name, Config.parse({ svc: { projectKey: name } }));
  }
  return { places, known, items };
}

function unlessFailure(error: unknown): undefined {
  if (error instanceof Failure) return undefined;
  throw error;
}

/** The repository of a worktree in the folder. */
async function mainOf(base: string): Promise<string | undefined> {
  for (const name of await namesIn(base)) {
    const file = join(base, name, '.git');
    if ((await ifPresent(lstat(file)).catch(() => undefined))?.isFile() !== true) continue;
    const [, gitFolder] = /^gitdir: (.+\/\.git)\/worktrees\/[^/\n]+\n?$/.exec(await readText(file)) ?? [];
    if (gitFolder !== undefined && (await isFolder(gitFolder))) return dirname(gitFolder);
  }
  return undefined;
}

async function itemOf(worktrees: Worktrees, listed: ListedWorktree, keepIn: string): Promise<Item> {
  const { name, path, branch, made } = listed;
  const what = plainText(`the worktree ${path}`);
  if (made === null)
    return {
      action: 'keep',
      what,
      why: 'svc did not create it',
      command: `git worktree remove ${shellQuoted(path)}`,
    };
  const losses = await worktrees.inspect(name).then(({ losses: all }) => all, unlessFailure);
  const withBranch = made.madeBranch && branch !== null ? ` and its branch ${plainText(branch)}` : '';
  const why =
    losses === undefined
      ? 'svc created it'
      : isLost(losses)
        ? `svc created it. Kept as a bundle in ${keepIn}: ${shortLosses(losses)}`
        : 'svc created it; it has nothing unsaved';
  return { action: 'remove', what: what + withBranch, why };
}

function shortLosses(losses: Losses): string {
  return lossLines(losses)
    .filter((line) => !line.startsWith(' '))
    .map((line) => line.replace(/:$/, ''))
    .join(', ');
}

async function leave({ terminal }: Leaving, place: Place, report: Report): Promise<Left[]> {
  const { folder, keepIn, worktrees, list } = place;
  const left: Left[] = [];
  for (const { name, path, made } of list) {
    if (made === null) continue;
    const failed = await orLeft(plainText(`the worktree ${path}`), async () => {
      const { kept, restore } = await worktrees.remove(name, {
        force: true,
        keepIn,
        currentFolder: terminal.folder,
        signal: terminal.interrupted,
        report(news) {
          if (news.kind === 'warning') report.warn(news.message);
        },
      });
      if (kept !== null) await save(report, folder, { what: `the worktree ${name}`, file: kept, restore });
      report.done(plainText(`Removed the worktree ${path}`));
    });
    left.push(...failed);
  }
  if (left.length > 0) return left;
  const { others } = await worktrees.removeBase({ keepIn });
  for (const name of others.filter((other) => list.every((one) => one.name !== other)))
    report.warn(plainText(`${join(place.base, name)} stays, because svc did not create it.`));
  return [];
}

/** Bundles without a line in their list: of worktrees that were removed before, or by a run that was killed. */
async function listUnlisted(report: Report, repository: string, folder: string): Promise<void> {
  const listed = (await ifPresent(readText(join(folder, LIST)))) ?? '';
  for (const name of await namesIn(folder)) {
    const file = join(folder, name);
    if (!name.endsWith('.bundle') || listed.includes(file)) continue;
    const restore = [`git fetch ${shellQuoted(file)} 'refs/*:refs/restored/*'`];
    await save(report, repository, { what: 'a worktree that was removed before', file, restore });
  }
}

/** The commands are kept beside the bundles, too: what was printed may be gone. */
async function save(report: Report, repository: string, work: Saved): Promise<void> {
  const restore = work.restore.map((command) => `cd ${shellQuoted(repository)} && ${command}`);
  const lines = [`# ${plainText(work.what)}: ${work.file}`, ...restore, ''];
  const file = join(dirname(work.file), LIST);
  const before = (await ifPresent(readText(file))) ?? '';
  await writeFileAtomically(file, `${before}${lines.join('\n')}\n`, { mode: 0o600, folderMode: 0o700 });
  report.saved({ ...work, restore });
}
