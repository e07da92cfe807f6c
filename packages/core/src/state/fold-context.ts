// One line that is being folded: the board that it changes and the effects that it asks for.
import type { Topic } from '../log/topics.ts';
import type { TypedLine } from '../log/typed-line.ts';
import type { Board, FoldedLine } from './board-types.ts';
import type { Effect } from './effect.ts';

/** A line with the detail of its topic. */
export type LineOf<Name extends Topic = Topic> = TypedLine<FoldedLine, Name>;

export type FoldContext<Name extends Topic = Topic> = { board: Board; line: LineOf<Name>; effects: Effect[] };

/** A method, because a fold takes the lines of its own topics only: `foldLine` hands it no others. */
export type Fold = { topics: readonly Topic[]; fold(context: FoldContext): void };

/** `on(['orchestrator.wave.started'], (context) => … context.line.detail.wave …)` */
export function on<Name extends Topic>(
  topics: readonly Name[],
  fold: (context: FoldContext<Name>) => void,
): Fold {
  return { topics, fold };
}

type Unkeyed<Kind> = Kind extends unknown ? Omit<Kind, 'key' | 'seq'> : never;

/** Asks for something; what is asked twice of one subject by one line is done once, as it was asked last. */
export function ask({ line, effects }: FoldContext, subject: string, effect: Unkeyed<Effect>): void {
  const key = `${line.seq}:${effect.kind}:${subject}`;
  const index = effects.findIndex((other) => other.key === key);
  if (index >= 0) effects.splice(index, 1);
  effects.push({ key, seq: line.seq, ...effect });
}
