// A worker on the board of the command line: one line that can be scanned, and below it what it waits for, in as many
// columns as the terminal has.

import { ageText, plainText } from '../../../cli/kit/text.ts';
import type { AttentionItem } from '../../attention/entity.ts';
import { workerText } from '../../workers/worker-label.ts';
import type { BoardView } from '../api.ts';
import { itemsOfWorker } from '../board-columns.ts';
import type { TeamWorkerView } from '../team-entity.ts';

export type WorkerOnBoard = TeamWorkerView;

/** The least that is left for the title, however narrow the terminal is. */
const LEAST_TITLE = 12;
const GAP = '  ';

const agentStates: Readonly<Record<string, string>> = {
  running: 'working',
  'needs-permission': 'asks you',
  'needs-input': 'needs you',
};

/** `items` and `pullRequests`: those of the board. */
export function workerLines(
  workers: readonly WorkerOnBoard[],
  {
    items,
    pullRequests,
    now,
    columns,
  }: Pick<BoardView, 'pullRequests'> & { items: BoardView['attention']; now: Date; columns: number },
): string[] {
  const byKey = new Map(pullRequests.map((pullRequest) => [pullRequest.key, pullRequest]));
  const heads = workers.map((worker) =>
    headOf(worker, workerText(worker, byKey.get(worker.pullRequestKey ?? '') ?? null), now),
  );
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(0, ...heads.map((cells) => cells[column]?.length ?? 0)),
  );
  const indent = ' '.repeat((widths[0] ?? 0) + GAP.length);
  return workers.flatMap((worker, index) => {
    const cells = (heads[index] ?? []).map((cell, column) => cell.padEnd(widths[column] ?? 0));
    const head = cells.join(GAP);
    const width = Math.max(LEAST_TITLE, columns - head.length - GAP.length);
    return [
      `${head}${GAP}${cut(plainText(worker.title ?? ''), width)}`.trimEnd(),
      ...reasonsOf(worker, itemsOfWorker(worker, items, now.getTime()), now).flatMap((reason) =>
        wrapped(reason, Math.max(LEAST_TITLE, columns - indent.length)).map((line) => `${indent}${line}`),
      ),
    ];
  });
}

function headOf({ ticket, statusSince, agent }: WorkerOnBoard, words: string, now: Date): string[] {
  const state = agent?.state ?? null;
  const shown = state === null ? '' : `: ${agentStates[state] ?? state}`;
  return [
    plainText(ticket),
    words,
    ageText(statusSince, now),
    agent === null ? '-' : plainText(`${agent.name}${shown}`),
  ];
}

function reasonsOf(
  worker: WorkerOnBoard,
  items: readonly Pick<AttentionItem, 'message'>[],
  now: Date,
): string[] {
  const { ticket, orchestrator, pullRequest, agent, waitsFor, until, contradictions } = worker;
  const deadline = until === null ? '' : ` (until ${ageText(until, now)})`;
  const doing = agent?.state === 'running' ? agent.doing : null;
  const facts = [
    orchestrator,
    ...(pullRequest === null ? [] : [pullRequest]),
    ...(doing === null ? [] : [`now: ${doing}`]),
    ...(waitsFor === null ? [] : [`waiting for ${waitsFor}${deadline}`]),
    ...(contradictions.length === 0 ? [] : [`sources disagree: svc why ${ticket}`]),
  ];
  return [facts.join(', '), ...items.slice(0, 1).map(({ message }) => `Needs you: ${message}`)].map(
    plainText,
  );
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1).trimEnd()}…`;
}

/** At spaces, but not within a command: it stays whole, so that it can be copied. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  const whole = text.replaceAll(/\bsvc(?: (?!or\b|and\b|\()[^\s,]+)+/g, (command) =>
    command.replaceAll(' ', '\0'),
  );
  for (const part of whole.split(' ')) {
    const word = part.replaceAll('\0', ' ');
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
