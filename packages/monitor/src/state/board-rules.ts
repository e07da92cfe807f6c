// The rules by which lines become a board, as this module uses them; `core` holds them.
import {
  type Board,
  type Effect,
  emptyBoard,
  type FoldedLine,
  type FoldLine,
  foldLine,
  packBoard,
  unpackBoard,
} from '@svc/core';

export type BoardRules = {
  emptyBoard: () => Board;
  foldLine: FoldLine;
  /** A picture of this moment, of plain values: its lists are copies, its entities are the board's own. */
  packBoard: (board: Board) => object;
  /** Undefined for what is not a packed board of this form. */
  unpackBoard: (packed: object) => Board | undefined;
};

export const boardRules: BoardRules = { emptyBoard, foldLine, packBoard, unpackBoard };

/** The form of a packed board: one of another form is made by other rules. */
export const boardForm = packBoard(emptyBoard()).form;

/**
 * One line more. A line on which a rule breaks is left out, here as everywhere, and told: one bad line must
 * not hide all that come after it.
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
