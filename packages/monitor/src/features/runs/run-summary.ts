// The summary of a finished run for the next person: `summary.md` in the run's folder. The board's facts, with their
// sources. Unknown values are shown as unknown, never as 0 and never left out.

import { shownStatus } from '@svc/contract/worker-statuses';
import { type Board } from '../../kernel/board/board.ts';
import { costText, runCostText } from '../agents/cost.ts';
import type { Link, LinkName } from '../tickets/proof.ts';
import { receipt } from '../tickets/receipt.ts';
import type { Receipt } from '../workers/api.ts';
import type { RunView } from './api.ts';
import type { Run } from './run.ts';
import { type RunTicketView, runView } from './run-view.ts';

/** A model's text about the run; `problem` if it was called and returned no text. */
export type ModelText = { text: string; by: string } | { problem: string };

const UNKNOWN = 'unknown';

/** `runSummary(board, run, '2026-01-02T03:04:05.000Z', null)`: without a model if none may be used. */
export function runSummary(board: Board, run: Run, now: string, model: ModelText | null): string {
  const view = runView(board, run, now);
  const tickets = view.waves.flatMap(({ wave, tickets: of }) => of.map((ticket) => ({ wave, ...ticket })));
  return `${[
    `# Run ${oneLine(run.name ?? run.orchestrator)}: ${run.state}`,
    runFacts(view, tickets),
    ...(model === null ? [] : [modelPart(model)]),
    '## Tickets',
    ...tickets.map((ticket) => ticketPart(ticket, receipt(board, ticket.ticket, run.orchestrator))),
    '## Needs a person',
    attentionPart(board, run),
  ].join('\n\n')}\n`;
}

function runFacts(view: RunView, tickets: readonly RunTicketView[]): string {
  return facts([
    ['Run', view.orchestrator],
    ['Project', view.project],
    ['Started', view.startedAt],
    ['Ended', view.endedAt],
    ['Tickets', `${view.tickets} (${countsOf(tickets)})`],
    ['Cost', totalCost(tickets)],
    ['Waited for people', `${view.waited.hours.toFixed(1)} hours`],
  ]);
}

function countsOf(tickets: readonly RunTicketView[]): string {
  const counts = new Map<string, number>();
  for (const { status } of tickets) counts.set(status ?? UNKNOWN, (counts.get(status ?? UNKNOWN) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${shownStatus(status)}`).join(', ') || 'none';
}

/** A sum with an unknown part is a lower bound. */
function totalCost(tickets: readonly RunTicketView[]): string | null {
  const known = tickets.flatMap(({ costUsd }) => costUsd ?? []);
  if (known.length === 0) return null;
  const missing = tickets
    .filter(({ costUsd, costPartial }) => costUsd === null || costPartial)
    .map(({ ticket }) => ticket);
  const sum = costText({
    usd: known.reduce((total, cost) => total + cost, 0),
    estimated: tickets.some(({ costEstimated }) => costEstimated),
    partial: missing.length > 0,
  });
  return missing.length === 0 ? sum : `${sum} (${UNKNOWN} for ${missing.join(', ')})`;
}

function modelPart(model: ModelText): string {
  const text =
    'text' in model
      ? `${model.text.trim()}\n\n(Written by ${oneLine(model.by)} from the facts below)`
      : `The model returned no text: ${oneLine(model.problem)}`;
  return `## Summary\n\n${text}`;
}

function ticketPart(ticket: RunTicketView & { wave: number }, known: Receipt | undefined): string {
  const { title, status, since, verification, error } = ticket;
  const links = (known?.links ?? []).filter(({ link }) => link !== 'ticket');
  return [
    `### ${ticket.ticket}${title === null ? '' : `: ${oneLine(title)}`}`,
    facts([
      ['Wave', String(ticket.wave)],
      ['Status', status === null ? null : `${shownStatus(status)} since ${since ?? UNKNOWN}`],
      [
        'Shipped',
        known?.shipped === undefined || known.shipped === null ? null : known.shipped ? 'yes' : 'no',
      ],
      ...links.map((link): Fact => [names[link.link], linkWords(link)]),
      ['Verification', verification ?? 'none'],
      ['Cost', runCostText(ticket)],
      ...(error === null ? [] : [['Error', error] satisfies Fact]),
      ...(known?.flagged ?? []).map((flag): Fact => ['Note', flag]),
    ]),
  ].join('\n\n');
}

const names: Readonly<Record<LinkName, string>> = {
  ticket: 'Ticket',
  'pull-request': 'Pull request',
  checks: 'Checks',
  merge: 'Merge',
  deployment: 'Deployment',
};

function linkWords({ value, grade, at, url }: Link): string | null {
  if (grade === 'missing') return null;
  if (grade === 'not-required') return 'not required';
  const words = [value ?? UNKNOWN, `(${[grade, at].filter((one) => one !== null).join(' ')})`, url ?? ''];
  return words.join(' ').trim();
}

function attentionPart(board: Board, { orchestrator }: Run): string {
  const open = [...board.attention.values()].filter((item) => item.orchestrator === orchestrator);
  if (open.length === 0) return 'Nothing.';
  return open
    .toSorted((one, other) => one.openedSeq - other.openedSeq)
    .map(({ ticket, reason, message, remedy }) => {
      const todo = remedy === null ? '' : ` (${oneLine(remedy)})`;
      return `- ${ticket ?? 'the run'}: ${reason}: ${oneLine(message)}${todo}`;
    })
    .join('\n');
}

type Fact = [name: string, value: string | null];

function facts(of: readonly Fact[]): string {
  return of.map(([name, value]) => `- ${name}: ${value === null ? UNKNOWN : oneLine(value)}`).join('\n');
}

/** Texts come from outside: none may start a section. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** The summary at the top of a run's folder; the first that exists counts. */
export const summaryNames = ['summary.md', 'SUMMARY.md'] as const;
