// The prompt of a summary. It is a pure function of the board: its hash is the snapshot hash.
import type { Board } from '../state/board-shape.ts';
import { fencedPrompt, type Prompt } from './fence.ts';
import { runLines } from './run-lines.ts';
import { instructionsOf, type SummaryTemplate } from './templates.ts';

/** `summaryPrompt(board, 'run-1', 'run-summary')` */
export function summaryPrompt(board: Board, orchId: string, template: SummaryTemplate): Prompt {
  return fencedPrompt(instructionsOf(template), runLines(board, orchId, template));
}
