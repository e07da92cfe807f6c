// svc retention [--yes]
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { needDaemon, requestedBy } from '../../cli/kit/daemon.ts';
import { AnswerIsNo, printJson, printTable, type Terminal } from '../../cli/kit/terminal.ts';
import { counted, plainText } from '../../cli/kit/text.ts';
import { verb } from '../../cli/kit/verb.ts';
import { bytesText } from '../archive/verbs/archive-session.ts';

type Report = Answer<'GET', '/api/retention'>;
type Item = Report['items'][number];

/** How many of the kept things are shown. */
const SHOWN = 20;

export function retentionVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('retention', {
    summary: 'Show which old data the policy removes, or remove it',
    details:
      'The policy is svc.retention and archive.retention. Nothing is removed that is in use, needs attention or is saved nowhere else.',
    example: ['svc retention', 'svc retention --yes'],
    route: 'GET /api/retention, POST /api/retention',
  })
    .option('--yes', 'remove it')
    .option('--json', 'print JSON')
    .action(async ({ yes, json }) => {
      const daemon = await needDaemon(terminal);
      if (yes !== true) {
        const report = await daemon.get('/api/retention');
        return json ? printJson(terminal, report) : printReport(terminal, report);
      }
      const end = await daemon.post('/api/retention', { body: requestedBy(terminal) });
      if (json) printJson(terminal, end);
      else {
        printItems(terminal, end.removed);
        for (const { kind, name, reason } of end.failed)
          terminal.err(`${kind}: ${plainText(name)} was not removed: ${plainText(reason)}`);
        terminal.out(`Removed: ${counted(end.removed.length, 'item')}, ${sizeText(end.removed)}.`);
      }
      if (end.failed.length > 0) throw new AnswerIsNo();
    });
}

function printReport(terminal: Terminal, { totals, items, automatic }: Report): void {
  printTable(
    terminal,
    totals.map(({ kind, items: count, bytes, setting, days }) => [
      kind,
      counted(count, 'item'),
      bytes === null ? 'size unknown' : bytesText(bytes),
      setting === null ? 'never removed' : `${setting}: ${days === null ? 'null (never)' : `${days} d`}`,
    ]),
  );
  const [due, kept] = [items.filter(({ remove }) => remove), items.filter(({ remove }) => !remove)];
  if (kept.length > 0) terminal.out('\nKept:');
  printItems(terminal, kept.slice(0, SHOWN));
  if (kept.length > SHOWN) terminal.out(`… and ${kept.length - SHOWN} more: svc retention --json`);
  if (due.length > 0) terminal.out('\nTo be removed:');
  printItems(terminal, due);
  const how = automatic
    ? 'The daemon removes it when it has been due for a day'
    : 'Remove it: svc retention --yes';
  terminal.out(
    due.length === 0
      ? '\nNothing is to be removed.'
      : `\nDry run: ${counted(due.length, 'item')}, ${sizeText(due)}. ${how}`,
  );
}

function printItems(terminal: Terminal, items: readonly Item[]): void {
  const rows = items.map((item) => [
    item.kind,
    plainText(item.name),
    sizeText([item]),
    plainText(item.reason),
  ]);
  if (rows.length > 0) printTable(terminal, rows);
}

function sizeText(items: readonly Item[]): string {
  const known = items.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  if (!items.some(({ bytes }) => bytes === null)) return bytesText(known);
  return known === 0 ? 'size unknown' : `more than ${bytesText(known)}`;
}
