// The data folder and the configuration folder. Only what svc writes there is removed, by name: either folder may have been
// pointed at one that holds other files too. Links are removed, never followed.
import { basename, join } from 'node:path';
import { ifPresent } from '@svc/lib/files';
import { entriesIn, lstat, namesIn } from '@svc/lib/paths';
import { shellQuoted } from '@svc/lib/shell-quoted';
import { plainText } from '../../../cli/kit/text.ts';
import { formatFile, readFormat } from '../../../kernel/disk/data-format.ts';
import { removeTree } from '../../../kernel/disk/private-file.ts';
import { type Item, type Leaving, type Left, orLeft, type Part, removeEmpty } from './part.ts';

const dataNames = new Set([
  'agent-hooks.json',
  'api-token',
  'archives',
  'comms',
  'daemon.json',
  'daemon.lock',
  'events',
  'format.json',
  'hook-secrets.json',
  'hook-token',
  'host-id',
  'last-good-config.json',
  'locks',
  'logs',
  'open.html',
  'retention-due.json',
  'runs',
  'spool',
  'svc-agent-hook',
]);
/** `svc.db-wal`, `svc.db.damaged-…`, and a file that was being replaced. */
const dataPattern = /^(?:svc\.db(?:[-.].*)?|daemon\.lock-.+|\..+\.tmp)$/;
const configPattern =
  /^(?:config(?:-[^/]+)?\.json|(?:linear-)?(?:webhook-secret|relay-read-key)|team\.json(?:\.1)?|\..+\.tmp)$/;

type Content = { own: string[]; others: string[] };

export async function foldersPart({ session }: Leaving): Promise<Part> {
  const { dataDir, configDir } = session.machine;
  const roots = [
    { folder: dataDir, what: 'data', isOwn: isDataName },
    { folder: configDir, what: 'configuration', isOwn: (name: string) => configPattern.test(name) },
  ];
  const items: Item[] = [];
  for (const { folder, what, isOwn } of roots) {
    const refusal = await refusalOf(folder, what);
    const { own, others } = await contentOf(folder, isOwn);
    if (refusal !== undefined)
      items.push({ action: 'keep', what: folder, why: refusal, command: `rm -r ${shellQuoted(folder)}` });
    else if (own.length > 0) items.push({ action: 'remove', what: folder, why: `the ${what} of svc` });
    for (const name of refusal === undefined ? others : [])
      items.push({
        action: 'keep',
        what: plainText(join(folder, name)),
        why: name === 'thoughts' ? 'documents that people and agents wrote' : 'svc did not write it',
        command: `rm -r ${shellQuoted(join(folder, name))}`,
      });
  }
  return {
    items,
    async act({ done }) {
      const left: Left[] = [];
      for (const { folder, what, isOwn } of roots)
        left.push(
          ...(await orLeft(folder, async () => {
            if ((await refusalOf(folder, what)) !== undefined) return;
            if (await removeContent(folder, isOwn)) done(`Removed ${folder}`);
          })),
        );
      await removeEmpty(join(session.machine.home, '.config'));
      return left;
    },
  };
}

function isDataName(name: string): boolean {
  return dataNames.has(name) || dataPattern.test(name);
}

/** Why the folder is not touched. */
async function refusalOf(folder: string, what: string): Promise<string | undefined> {
  const stats = await ifPresent(lstat(folder));
  if (stats?.isSymbolicLink() === true) return 'it is a link, and svc does not delete behind it';
  if (stats === undefined || what !== 'data') return undefined;
  // Without the mark of a daemon, only what a setup alone has written is there.
  const names = await namesIn(folder);
  const isOurs = readFormat(folder) !== undefined || names.every((name) => isDataName(name) || name === 'wt');
  return isOurs
    ? undefined
    : `it has no ${basename(formatFile(folder))}, so it is not known to be the data of svc`;
}

async function contentOf(folder: string, isOwn: (name: string) => boolean): Promise<Content> {
  const content: Content = { own: [], others: [] };
  if ((await ifPresent(lstat(folder)))?.isDirectory() !== true) return content;
  for (const { name } of await entriesIn(folder)) {
    const isOurs = isOwn(name) || (await isEmptyTree(folder, name));
    // Worktrees are shown one by one.
    if (isOurs) content.own.push(name);
    else if (name !== 'wt') content.others.push(name);
  }
  return content;
}

/** Folders of worktrees and documents, with nothing left in them but links that svc does not follow. */
async function isEmptyTree(folder: string, name: string): Promise<boolean> {
  if (name !== 'wt' && name !== 'thoughts') return false;
  const path = join(folder, name);
  if ((await lstat(path)).isSymbolicLink()) return true;
  return holdsNoFile(path);
}

async function holdsNoFile(folder: string): Promise<boolean> {
  for (const entry of await entriesIn(folder)) {
    if (entry.isSymbolicLink()) continue;
    if (!entry.isDirectory() || !(await holdsNoFile(join(folder, entry.name)))) return false;
  }
  return true;
}

/** The mark last: until then another run continues. */
async function removeContent(folder: string, isOwn: (name: string) => boolean): Promise<boolean> {
  const { own } = await contentOf(folder, isOwn);
  const mark = basename(formatFile(folder));
  for (const name of own.filter((one) => one !== mark)) await removeTree(join(folder, name));
  await removeTree(join(folder, mark));
  await removeEmpty(folder);
  return own.length > 0;
}
