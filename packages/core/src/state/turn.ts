// One line that is being folded: the board that it changes and the effects that it asks for.
import type { Board, FoldedLine } from './board-types.ts';
import type { Effect } from './effect.ts';

export type Turn = { board: Board; line: FoldedLine; effects: Effect[] };

/** Topics of a subject and what they do. */
export type Folds = readonly (readonly [topic: string, fold: (turn: Turn) => void])[];

type Unkeyed<Kind> = Kind extends unknown ? Omit<Kind, 'key' | 'seq'> : never;

/** Asks for something; what is asked twice of one subject by one line is done once, as it was asked last. */
export function ask({ line, effects }: Turn, subject: string, effect: Unkeyed<Effect>): void {
  const key = `${line.seq}:${effect.kind}:${subject}`;
  const index = effects.findIndex((other) => other.key === key);
  if (index >= 0) effects.splice(index, 1);
  effects.push({ key, seq: line.seq, ...effect });
}
