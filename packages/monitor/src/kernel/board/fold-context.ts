// One step of the fold: the line, the board that it changes, and the effects that it requests.

import type { Topic } from '../log/topics.ts';
import type { TypedLine } from '../log/typed-line.ts';
import type { Effect } from '../outbox/effect.ts';
import type { Board, FoldedLine } from './board.ts';

/** A line with the detail of its topic. */
export type LineOf<Name extends Topic = Topic> = TypedLine<FoldedLine, Name>;

/**
 * What a feature takes from the features above it: steps and reasons. Each declares its own by declaration merging, and
 * `features/board-steps.ts` fills them.
 * @public
 */
export interface FoldSteps {}

export type FoldContext<Name extends Topic = Topic> = {
  board: Board;
  line: LineOf<Name>;
  effects: Effect[];
  steps: FoldSteps;
};

/** A method, because `foldLine` passes only lines of these topics. */
export type Fold = { topics: readonly Topic[]; fold(context: FoldContext): void };

/** `on(['orchestrator.wave.started'], (context) => … context.line.detail.wave …)` */
export function on<Name extends Topic>(
  topics: readonly Name[],
  fold: (context: FoldContext<Name>) => void,
): Fold {
  return { topics, fold };
}

type Unkeyed<Kind> = Kind extends unknown ? Omit<Kind, 'key' | 'seq'> : never;

/** Requests an effect. If one line requests an effect twice for a subject, the last request counts. */
export function ask({ line, effects }: FoldContext, subject: string, effect: Unkeyed<Effect>): void {
  const key = `${line.seq}:${effect.kind}:${subject}`;
  const index = effects.findIndex((other) => other.key === key);
  if (index >= 0) effects.splice(index, 1);
  effects.push({ key, seq: line.seq, ...effect });
}
