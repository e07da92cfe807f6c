// The briefing: the whole board in a few sentences, and a short label for the session of each active ticket. The
// model's answer is text; labels are read from it, only for requested tickets.

import type { Board } from '../../kernel/board/board.ts';
import type { AttentionItem } from '../attention/attention-item.ts';
import { createLookup } from '../tickets/subject.ts';
import { isEnded } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import type { SuggestedLabel } from './api.ts';
import {
  attentionLine,
  byText,
  fencedPrompt,
  type Prompt,
  sortedAttention,
  workerLine,
} from './summary-prompt.ts';

export type BriefingRequest = { prompt: Prompt; tickets: string[] };

const MARK = 'LABELS';
const LONGEST_LABEL = 60;
const LONGEST_BRIEFING = 8_000;
const MOST_TICKETS = 60;

const instructions = [
  'Brief the person who is responsible for this work: what needs that person now, what is under way, and what was proven to have shipped.',
  'At most 200 words, plain sentences, no headings.',
  `Then write a line with only the word ${MARK}, and below it one line for each ticket of kind worker, as TICKET: label. A label names in 2 to 5 words what the ticket is about.`,
].join('\n');

type Belonging = Pick<Worker, 'ticket' | 'repo'>;

/** `isAllowed` excludes what may not be sent to a model. */
export function briefingRequest(board: Board, isAllowed: (one: Belonging) => boolean): BriefingRequest {
  const lookup = createLookup(board);
  const all = [...board.workers.values()].filter(({ removed }) => !removed);
  const allowed = all.filter(isAllowed).toSorted((a, b) => byText(a.key, b.key));
  const isOver = ({ orchestrator }: Worker): boolean =>
    ['completed', 'canceled'].includes(board.runs.get(orchestrator)?.state ?? 'unknown');
  const open = allowed.filter(({ status }) => !isEnded(status));
  const ended = allowed.filter((worker) => isEnded(worker.status) && !isOver(worker));
  const attention = sortedAttention([...board.attention.values()]).filter(mayBeTold(all, isAllowed));
  const lines = [
    { kind: 'all', openWorkers: open.length, endedWorkers: ended.length, attention: attention.length },
    ...attention.map(attentionLine),
    ...[...open, ...ended].slice(0, MOST_TICKETS).map((worker) => ({
      ...workerLine(lookup.ofWorker(worker), worker),
      run: worker.orchestrator,
      labels: board.tickets.get(worker.ticket)?.labels,
    })),
  ];
  const tickets = [...new Set(open.slice(0, MOST_TICKETS).map(({ ticket }) => ticket))];
  return { prompt: fencedPrompt(instructions, lines), tickets };
}

function mayBeTold(workers: readonly Worker[], isAllowed: (one: Belonging) => boolean) {
  const hidden = workers.filter((worker) => !isAllowed(worker));
  const tickets = new Set(hidden.map(({ ticket }) => ticket));
  const runs = new Set(hidden.map(({ orchestrator }) => orchestrator));
  return ({ ticket, orchestrator }: AttentionItem): boolean =>
    ticket === null
      ? orchestrator === null || !runs.has(orchestrator)
      : !tickets.has(ticket) && isAllowed({ ticket, repo: null });
}

/** Splits the answer: the text before the mark, and the labels of requested tickets after it. */
export function readBriefing(
  answer: string,
  tickets: readonly string[],
): { briefing: string; suggestedLabels: SuggestedLabel[] } {
  const lines = answer.split(/\r?\n/);
  const mark = lines.findLastIndex((line) => line.replaceAll(/[^A-Za-z]/g, '') === MARK);
  const words = (mark < 0 ? lines : lines.slice(0, mark)).join('\n').trim();
  const named = new Map(tickets.map((ticket) => [ticket.toUpperCase(), ticket]));
  const labels = new Map<string, string>();
  for (const line of mark < 0 ? [] : lines.slice(mark + 1)) {
    const [, name = '', text = ''] =
      /^[\s*`-]{0,8}([\w.-]{1,120})[\s*`]{0,4}[:=](.{1,200})$/u.exec(line) ?? [];
    const ticket = named.get(name.toUpperCase());
    const label = plain(text);
    if (ticket !== undefined && label !== '' && !labels.has(ticket)) labels.set(ticket, label);
  }
  return {
    briefing: words.slice(0, LONGEST_BRIEFING),
    suggestedLabels: [...labels].map(([ticket, label]) => ({ ticket, label })),
  };
}

function plain(text: string): string {
  return text
    .replaceAll(/[\p{C}*`"]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_LABEL)
    .trim();
}
