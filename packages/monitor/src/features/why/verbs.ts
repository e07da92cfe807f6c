// svc why, svc receipt: what is known about a ticket, with the evidence.
import { ruleWithAge } from '@svc/contract/worker-statuses';
import { ofWorker, routeVerb } from '../../cli/kit/route-verb.ts';
import { paint, printTable, type Terminal } from '../../cli/kit/terminal.ts';
import { ageText, plainText, timeText, utcText } from '../../cli/kit/text.ts';
import type { Link } from '../tickets/proof.ts';
import type { Receipt, Why } from '../workers/api.ts';
import { readWorkerWords } from '../workers/verbs/worker-words.ts';

export const whyVerb = routeVerb('why', 'GET /api/workers/{ticket}/why', {
  summary: 'Explain why a ticket is in its current state',
  details: 'Shows the rule, the facts, what it is waiting for, and what is unknown.',
  example: 'svc why ABC-12',
  fields: { ...ofWorker, machine: ['--machine <name>', 'agent of this machine of the team'] },
  print: async (terminal, answer, _, daemon) =>
    printWhy(terminal, answer, (await readWorkerWords(daemon, answer.from?.id))(answer)),
});

/** `words`: its status, as the board shows it. */
export function printWhy(terminal: Terminal, answer: Why, words: string): void {
  const { ticket, orchestrator, since, facts, waitsFor, until, from } = answer;
  const now = terminal.now();
  const run = orchestrator === null ? '' : ` in ${plainText(orchestrator)}`;
  terminal.out(
    `${paint(terminal, 'bold', plainText(ticket))}${run}: ${paint(terminal, 'bold', plainText(words))}`,
  );
  // Svc does not check what another machine says.
  const speaker = from === undefined ? '' : `${from.machine} says, not checked here: `;
  const rows = [['because', plainText(`${speaker}${ruleWithAge(answer, (at) => ageText(at, now))}`)]];
  if (since !== null) rows.push(['since', timeText(since, now)]);
  if (waitsFor !== null) rows.push(['waiting for', plainText(`${speaker}${waitsFor}`)]);
  if (until !== null) rows.push(['until', timeText(until, now)]);
  if (from !== undefined)
    rows.push([
      'known from',
      `${plainText(`${from.machine} (${from.person})`)}, received ${timeText(from.receivedAt, now)}`,
    ]);
  printTable(
    terminal,
    rows.map(([name = '', text = '']) => [`  ${name}`, text]),
  );
  if (facts.length > 0) {
    terminal.out('Facts, with their events:');
    printTable(
      terminal,
      facts.map(({ at, seq, source, text }) => [`  ${seq ?? '-'}`, utcText(at), source, plainText(text)]),
    );
  }
  printList(terminal, 'Sources disagree:', answer.contradictions);
  printList(terminal, 'Unknown:', answer.unknown);
}

function printList(terminal: Terminal, title: string, texts: readonly string[]): void {
  if (texts.length === 0) return;
  terminal.out(paint(terminal, 'yellow', title));
  for (const text of texts) terminal.out(`  ${plainText(text)}`);
}

export const receiptVerb = routeVerb('receipt', 'GET /api/workers/{ticket}/receipt', {
  summary: 'Show whether a ticket shipped, with the evidence',
  details: 'Exit code 1 when it has not shipped, or when that is unknown.',
  example: 'svc receipt ABC-12',
  fields: ofWorker,
  print: printReceipt,
  isNo: ({ shipped }) => shipped !== true,
});

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
