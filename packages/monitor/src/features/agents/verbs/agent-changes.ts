// `svc agent changes`: what an agent has changed in its worktree.
import type { Answer } from '@svc/client';
import { ofWorker, routeVerb } from '../../../cli/kit/route-verb.ts';
import { paint, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { counted, plainText } from '../../../cli/kit/text.ts';

type Changes = Answer<'GET', '/api/workers/{ticket}/changes'>;
type ChangedFile = Changes['files'][number];

export const changesVerb = routeVerb('changes', 'GET /api/workers/{ticket}/changes', {
  summary: 'Show the changes in a ticket’s worktree against its base',
  details: 'Committed, uncommitted and untracked files since the branch left its base.',
  example: ['svc agent changes ABC-12', 'svc agent changes ABC-12 --stat'],
  fields: ofWorker,
  unsent: { stat: ['--stat', 'show only the files and the number of changed lines'] },
  print: (terminal, changes, { stat }) => {
    printFiles(terminal, changes);
    if (!stat) for (const { diff } of changes.files) printDiff(terminal, diff);
  },
});

function printFiles(terminal: Terminal, { files, worktree, base, baseSha, cut }: Changes): void {
  const where = `${plainText(worktree)} since ${plainText(base)} (${plainText(baseSha.slice(0, 12))})`;
  terminal.out(`${counted(files.length, 'changed file')} in ${where}`);
  printTable(
    terminal,
    files.map((file) => [`  ${file.status}`, linesOf(file), plainText(nameOf(file))]),
  );
  if (cut) terminal.out('  There are more files than shown.');
}

function nameOf({ path, from }: ChangedFile): string {
  return from === null ? path : `${from} -> ${path}`;
}

function linesOf({ added, removed, cut }: ChangedFile): string {
  const counts = added === null ? (cut ? 'lines unknown' : 'binary') : `+${added} -${removed ?? 0}`;
  return cut ? `${counts}, diff too long` : counts;
}

function printDiff(terminal: Terminal, diff: string): void {
  for (const line of diff.split('\n').slice(0, -1)) {
    // Tabs are harmless, and part of the code.
    const text = line.split('\t').map(plainText).join('\t');
    if (line.startsWith('+')) terminal.out(paint(terminal, 'green', text));
    else if (line.startsWith('-')) terminal.out(paint(terminal, 'red', text));
    else terminal.out(line.startsWith('diff --git ') ? paint(terminal, 'bold', text) : text);
  }
}
