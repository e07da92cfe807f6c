// The board: the fold of the whole log. It is a pure function of the lines: the same lines give the same board, in however
// many parts they are folded. Entities are never changed in place, so a copy of the maps is a snapshot. Each feature adds
// what it keeps by declaration merging (its `slice.ts`), and `features/board.ts` lists the rules.
import type { EventLine } from '../log/event-line.ts';

/**
 * The entities of each map.
 * @public
 */
export interface Entities {}

/**
 * Numbers that only grow.
 * @public
 */
export interface Counters {}

/**
 * Indexes derived from the maps and never stored, so no line has to search (links.ts).
 * @public
 */
export interface BoardLinks {}

export type Board = {
  /** The last folded line; 0 for none. */
  seq: number;
  at: string | null;
  links: BoardLinks;
} & { [Name in keyof Entities]: Map<string, Entities[Name]> } & { [Name in keyof Counters]: number };

/** The fields of a line that a fold reads. */
export type FoldedLine = Pick<
  EventLine,
  | 'seq'
  | 'ts'
  | 'event'
  | 'source'
  | 'via'
  | 'occurredAt'
  | 'scope'
  | 'detail'
  | 'actor'
  | 'reporter'
  | 'repeatOf'
>;

/** The last line that changed an entity. */
export type Last = { lastSeq: number; lastAt: string };
