// The rules that turn lines into a board, made from what the features declare.
import { asFields, type Fields, integerAt } from '@svc/contract/payload-fields';
import type { TypedLines } from '../log/typed-line.ts';
import type { Effect } from '../outbox/effect.ts';
import type { Board, BoardLinks, Counters, Entities, FoldedLine } from './board.ts';
import type { Fold, FoldSteps } from './fold-context.ts';
import type { Slices } from './slice.ts';

/** Applies one line to the board and returns its effects. Lines come in the order of their seq; a line that was already folded changes nothing. */
export type FoldLine = (board: Board, line: FoldedLine) => Effect[];

/** The board as plain JSON, for snapshots. One with another form number is ignored, and the log is folded again. */
export type PackedBoard = {
  form: number;
  seq: number;
  at: string | null;
} & { [Each in keyof Entities]: Entities[Each][] } & { [Each in keyof Counters]: number };

export type BoardRules = {
  form: number;
  emptyBoard: () => Board;
  foldLine: FoldLine;
  /** A picture of the current board, in plain values: its lists are copies, its entities are shared with the board. */
  packBoard: (board: Board) => object;
  /** Given what `packBoard` made, perhaps by way of JSON; throws on anything else and on another form. */
  unpackBoard: (packed: unknown) => Board;
};

const LINES_BETWEEN_CLEANUPS = 10_000;

type Name = keyof Entities;

export function createBoardRules({
  form,
  slices,
  counters,
  noLinks,
  folds,
  steps,
  typedLine,
}: {
  /** Increased when entities or their reducers change, so older snapshots are not used. */
  form: number;
  /** In the order in which they are cleaned. */
  slices: Slices;
  counters: { readonly [Each in keyof Counters]: 0 };
  noLinks: () => BoardLinks;
  folds: readonly Fold[];
  steps: FoldSteps;
  typedLine: TypedLines['typedLine'];
}): Omit<BoardRules, 'packBoard'> & { packBoard: (board: Board) => PackedBoard } {
  const names = Object.keys(slices) as Name[];
  const counterNames = Object.keys(counters) as (keyof Counters)[];
  const foldOf = new Map(
    folds.flatMap((fold) => fold.topics.map((topic) => [topic as string, fold] as const)),
  );

  const emptyBoard = (): Board =>
    ({
      seq: 0,
      at: null,
      links: noLinks(),
      ...counters,
      ...Object.fromEntries(names.map((name) => [name, new Map()])),
    }) as unknown as Board;

  function linkAll(board: Board): void {
    board.links = noLinks();
    for (const name of names) {
      const { link }: { link?: (links: BoardLinks, entity: never) => void } = slices[name];
      if (link !== undefined) for (const entity of board[name].values()) link(board.links, entity as never);
    }
  }

  function linkedCount(board: Board): number {
    const linked = names.filter((name) => slices[name].link !== undefined);
    return linked.reduce((sum, name) => sum + board[name].size, 0);
  }

  /** Drops settled entities, at every 10,000th line. */
  function keepBounded(board: Board, { seq, ts }: FoldedLine): void {
    if (seq % LINES_BETWEEN_CLEANUPS !== 0) return;
    const before = linkedCount(board);
    for (const name of names) slices[name].clean?.(board, ts);
    if (linkedCount(board) < before) linkAll(board);
  }

  function isPacked(fields: Fields): fields is PackedBoard {
    if (fields['form'] !== form) return false;
    if (['seq', ...counterNames].some((name) => integerAt(fields, name) === undefined)) return false;
    const { at } = fields;
    return (at === null || typeof at === 'string') && names.every((name) => Array.isArray(fields[name]));
  }

  return {
    form,
    emptyBoard,
    foldLine(board, line) {
      if (line.seq <= board.seq) return [];
      board.seq = line.seq;
      board.at = line.ts;
      const effects: Effect[] = [];
      // A repeated delivery may be outdated.
      if (line.repeatOf !== undefined) return effects;
      const fold = foldOf.get(line.event);
      const typed = fold && typedLine(line);
      if (typed !== undefined) fold?.fold({ board, line: typed, effects, steps });
      keepBounded(board, line);
      return effects;
    },
    packBoard(board) {
      const lists = names.map((name) => [name, [...board[name].values()]]);
      const counts = counterNames.map((name) => [name, board[name]]);
      const { seq, at } = board;
      return { form, seq, at, ...Object.fromEntries([...lists, ...counts]) } as PackedBoard;
    },
    unpackBoard(packed) {
      const fields = asFields(packed);
      if (fields === undefined || !isPacked(fields))
        throw new Error('This is not a board in the current format');
      const board = {
        ...emptyBoard(),
        seq: fields.seq,
        at: fields.at,
        ...Object.fromEntries(counterNames.map((name) => [name, fields[name]])),
        ...Object.fromEntries(names.map((name) => [name, byKey(fields[name], slices[name])])),
      } as Board;
      linkAll(board);
      return board;
    },
  };
}

function byKey(
  entities: readonly unknown[],
  { keyOf }: { keyOf: (entity: never) => string },
): Map<string, unknown> {
  return new Map(entities.map((entity) => [keyOf(entity as never), entity]));
}

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
