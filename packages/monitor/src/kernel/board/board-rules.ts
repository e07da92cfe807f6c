// The rules that turn lines into a board, as this module uses them; `core` defines them.
import { emptyBoard, type FoldLine, foldLine, packBoard, unpackBoard } from '../../features/board.ts';
import type { Board, FoldedLine } from '../../features/board-types.ts';
import type { Effect } from '../outbox/effect.ts';

export type BoardRules = {
  emptyBoard: () => Board;
  foldLine: FoldLine;
  /** A picture of the current board, in plain values: its lists are copies, its entities are shared with the board. */
  packBoard: (board: Board) => object;
  /** Undefined for anything that is not a packed board of this form. */
  unpackBoard: (packed: object) => Board | undefined;
};

export const boardRules: BoardRules = { emptyBoard, foldLine, packBoard, unpackBoard };

/** The form of a packed board: a board of another form was made by other rules. */
export const boardForm = packBoard(emptyBoard()).form;

/**
 * Folds one line. A line on which a rule throws is skipped and reported: one bad line must not hide all that come after
 * it.
 */
export function foldOrSkip(
  rules: Pick<BoardRules, 'foldLine'>,
  board: Board,
  line: FoldedLine,
  onBroken?: (error: unknown) => void,
): Effect[] {
  try {
    return rules.foldLine(board, line);
  } catch (error) {
    onBroken?.(new Error(`Line ${line.seq} (${line.event}) cannot be folded`, { cause: error }));
    return [];
  }
}
