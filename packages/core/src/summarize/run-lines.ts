// What the board holds of one run, as lines of a prompt.
import { isEnded } from '../deploy/standing.ts';
import type { AttentionItem } from '../state/attention-item.ts';
import type { Board } from '../state/board-shape.ts';
import { createLookup } from '../state/views/subject.ts';
import type { Worker } from '../state/worker.ts';
import { attentionLine, byText, sortedAttention, workerLine } from './data-lines.ts';
import type { DataLine } from './fence.ts';
import type { SummaryTemplate } from './templates.ts';

/** A run is known when the log told of it, or when any worker belongs to it. */
export function knowsRun(board: Board, orchId: string): boolean {
  return board.runs.has(orchId) || workersOfRun(board, orchId).length > 0;
}

export function workersOfRun(board: Board, orchId: string): Worker[] {
  return [...board.workers.values()].filter(({ orchestrator }) => orchestrator === orchId);
}

/** The lines of a template, what matters most first. */
export function runLines(board: Board, orchId: string, template: SummaryTemplate): DataLine[] {
  const attention = attentionOf(board, orchId);
  const workers = workersOfRun(board, orchId).filter(({ removed }) => !removed);
  const needsPerson = new Set(attention.map(({ ticket }) => ticket));
  const shown =
    template === 'attention-digest' ? workers.filter((one) => needsPerson.has(one.ticket)) : workers;
  const lookup = createLookup(board);
  const rank = (worker: Worker): number =>
    needsPerson.has(worker.ticket) ? 0 : isEnded(worker.status) ? 2 : 1;
  return [
    runLine(board, orchId, workers),
    ...attention.map(attentionLine),
    ...shown
      .toSorted((a, b) => rank(a) - rank(b) || byText(a.ticket, b.ticket))
      .map((worker) => workerLine(lookup.ofWorker(worker), worker)),
  ];
}

/** Of the run, and what no run has to itself: a feed that is blind makes every summary doubtful. */
function attentionOf(board: Board, orchId: string): AttentionItem[] {
  return sortedAttention(
    [...board.attention.values()].filter(
      ({ orchestrator, feed }) => orchestrator === orchId || (orchestrator === null && feed !== null),
    ),
  );
}

function runLine(board: Board, orchId: string, workers: readonly Worker[]): DataLine {
  const run = board.runs.get(orchId);
  const counts: Record<string, number> = {};
  for (const { status } of workers) counts[status] = (counts[status] ?? 0) + 1;
  return {
    kind: 'run',
    run: orchId,
    name: run?.name,
    state: run?.state ?? 'unknown',
    startedAt: run?.startedAt,
    endedAt: run?.endedAt,
    workers: workers.length,
    byStatus: Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => byText(a, b))),
    waves: run?.waves.map(({ wave, state, tickets }) => ({ wave, state, tickets })),
  };
}
