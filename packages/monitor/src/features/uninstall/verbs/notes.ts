// What svc leaves in place, because it belongs to somebody else or svc did not write it: named, with the command.
import { join } from 'node:path';
import { ifPresent } from '@svc/lib/files';
import { isFolder, isThere, readText } from '@svc/lib/paths';
import { shellQuoted } from '@svc/lib/shell-quoted';
import { completionScript, shells } from '../../../cli/completion/scripts.ts';
import { plainText } from '../../../cli/kit/text.ts';
import type { ServedProject } from '../../../kernel/config/projects.ts';
import { isInside } from '../../worktrees/io/context.ts';
import type { Item, Leaving, Part } from './part.ts';

const completionFiles = {
  bash: { file: '.svc-completion.bash', line: '.bashrc' },
  zsh: { file: '.svc-completion.zsh', line: '.zshrc' },
  fish: { file: '.config/fish/completions/svc.fish', line: undefined },
} as const;

export async function notesPart(
  { terminal, session }: Leaving,
  projects: readonly ServedProject[],
): Promise<Part> {
  const { machine } = session;
  const items: Item[] = [];
  const keep = (what: string, why: string, command: string): void =>
    void items.push({ action: 'keep', what: plainText(what), why, command });
  for (const shell of shells) {
    const { file, line } = completionFiles[shell];
    const path = join(terminal.home, file);
    const [first = ''] = completionScript(shell).split('\n');
    if ((await ifPresent(readText(path)))?.startsWith(first) !== true) continue;
    const also = line === undefined ? '' : `, and delete its line in ~/${line}`;
    keep(path, 'you installed the completion of your shell', `rm ${shellQuoted(path)}${also}`);
  }
  for (const { folder } of projects) {
    const path = join(folder, '.svc');
    if (await isFolder(path))
      keep(
        path,
        'it belongs to the repository',
        `git -C ${shellQuoted(folder)} rm -r .svc, or rm -r ${shellQuoted(path)}`,
      );
  }
  const elsewhere = [machine.eventsDir, machine.runsDir, machine.commsDir, machine.databaseFile].concat(
    projects.map(({ usable }) => usable.archive.root.replace(/^~(?=\/)/, machine.home)),
  );
  for (const path of new Set(elsewhere))
    if (!isInside(machine.dataDir, path) && (await isThere(path)))
      keep(path, 'it is outside the data folder', `rm -r ${shellQuoted(path)}`);
  return { items, act: async () => [] };
}
