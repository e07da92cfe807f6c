// Folds the log into the board, line by line, and tells what each line asks to be done.
import { keepBounded } from './board-bounds.ts';
import type { Board, FoldedLine } from './board-shape.ts';
import type { Effect } from './effect.ts';
import { deploymentFolds } from './fold-deployment.ts';
import { pullRequestFolds } from './fold-pull-request.ts';
import { ruleFolds } from './fold-rules.ts';
import { subjectFolds } from './fold-subjects.ts';
import { workerFolds } from './fold-worker.ts';

export { pullRequestOfWorker, workersOfPullRequest } from './board-entities.ts';
export { pullRequestKey } from './board-links.ts';
export type { Board, FoldedLine } from './board-shape.ts';
export { emptyBoard, type PackedBoard, packBoard, unpackBoard } from './pack-board.ts';
export { attentionId } from './reduce-attention.ts';
export { workerKey } from './reduce-worker.ts';
export { scopeOfWorker } from './worker-attention.ts';

export type FoldLine = (board: Board, line: FoldedLine) => Effect[];

const folds = new Map([
  ...pullRequestFolds,
  ...deploymentFolds,
  ...workerFolds,
  ...subjectFolds,
  ...ruleFolds,
]);

/**
 * Changes the board by one line and gives the effects that it asks for. The lines come in the order of their
 * seq; one that was folded already changes nothing.
 *
 *     const effects = foldLine(board, line);
 */
export function foldLine(board: Board, line: FoldedLine): Effect[] {
  if (line.seq <= board.seq) return [];
  board.seq = line.seq;
  board.at = line.ts;
  const effects: Effect[] = [];
  // What was said before, sent once more: it may not be true any longer.
  if (line.repeatOf !== undefined) return effects;
  folds.get(line.event)?.({ board, line, effects });
  keepBounded(board, line);
  return effects;
}
