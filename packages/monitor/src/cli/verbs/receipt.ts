// svc receipt
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Link, Receipt } from '@svc/core';
import { needDaemon } from '../session.ts';
import { AnswerIsNo, paint, printJson, printTable, type Terminal } from '../terminal.ts';
import { plainText, utcText } from '../text.ts';
import { verb } from '../verb.ts';
import { printList } from './why.ts';

export function receiptVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('receipt', {
    summary: 'Show whether a ticket shipped, with the evidence',
    details: 'Exit code 1 when it has not shipped, or when that is unknown.',
    example: 'svc receipt ABC-12',
    route: 'GET /api/workers/:ticket/receipt',
  })
    .argument('<ticket>')
    .option('--orchestrator <run>', 'worker of this run (default: the newest)')
    .option('--json', 'print JSON')
    .action(async (ticket, options) => {
      const daemon = await needDaemon(terminal);
      const query = { orchestrator: options.orchestrator };
      const answer = await daemon.get('/api/workers/{ticket}/receipt', { params: { ticket }, query });
      if (options.json) printJson(terminal, answer);
      else printReceipt(terminal, answer);
      if (answer.shipped !== true) throw new AnswerIsNo();
    });
}

export function printReceipt(terminal: Terminal, { ticket, shipped, links, flagged }: Receipt): void {
  terminal.out(`${paint(terminal, 'bold', plainText(ticket))} ${verdict(terminal, shipped)}`);
  printTable(
    terminal,
    links.map((link) => linkRow(link)),
  );
  printList(terminal, 'Check these:', flagged);
}

function verdict(terminal: Terminal, shipped: boolean | null): string {
  if (shipped === null) return paint(terminal, 'yellow', 'may have shipped: unknown');
  return shipped ? paint(terminal, 'green', 'shipped') : paint(terminal, 'yellow', 'has not shipped');
}

function linkRow({ link, value, grade, at, seq, url }: Link): string[] {
  const line = seq === null ? '-' : `event ${seq}`;
  return [`  ${link}`, grade, utcText(at), line, plainText([value ?? [], url ?? []].flat().join('  '))];
}
