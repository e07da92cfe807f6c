// svc findings list | drain
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { createFindingsQueue, type QueueLine } from '../../feedback/queue.ts';
import { findingsFile } from '../../feedback/queue-path.ts';
import { plainText } from '../plain-text.ts';
import { openSession } from '../session.ts';
import { printJson, printTable, type Terminal } from '../terminal.ts';
import { verb, verbGroup } from '../verb.ts';
import { drainVerb } from './findings-drain.ts';

export function findingsVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'findings',
    { summary: 'Findings of this run that wait to be filed as tickets', example: 'svc findings list' },
    [listVerb(terminal), drainVerb(terminal)],
  );
}

function listVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('list', {
    summary: 'The findings in the queue, oldest first',
    example: ['svc findings list', 'svc findings list --json'],
  })
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { file, lines } = await readFindings(terminal);
      if (options.json) return printJson(terminal, { file, findings: lines.map(shownFinding) });
      if (lines.length === 0) return terminal.out(`No findings wait (${file})`);
      printTable(terminal, lines.map(findingRow));
    });
}

/** The queue of the folder that the person is in. */
export async function readFindings(terminal: Terminal): Promise<{ file: string; lines: QueueLine[] }> {
  const { locks } = openSession(terminal);
  const queue = createFindingsQueue({ file: findingsFile(terminal), locks });
  return { file: queue.file, lines: await queue.lines() };
}

export function shownFinding({ key, text, read }: QueueLine): object {
  return 'finding' in read ? { key, ...read.finding } : { key, unreadable: read.problem, text };
}

export function findingRow({ text, read }: QueueLine): string[] {
  if ('problem' in read)
    return ['?', '', '', `unreadable (${read.problem}): ${plainText(text.slice(0, 60))}`];
  const { ts, severity, skill, title } = read.finding;
  return [ts, severity, plainText(skill), plainText(title)];
}
