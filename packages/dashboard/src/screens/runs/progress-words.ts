// How far a run has come, in parts of its tickets and in words. Only what is done counts as done.
import type { Meaning } from '../../parts/meaning.ts';
import type { RunModel } from '../run/run-model.ts';

type ProgressPart = { meaning: Meaning; count: number };
type Counted = Pick<RunModel, 'tickets' | 'done' | 'needYou'>;

const order: readonly Meaning[] = ['proven', 'review', 'motion', 'broken', 'you'];

/** The parts that are drawn, in their order; what has not begun is the rest. */
export function progressParts({ tickets }: Pick<Counted, 'tickets'>): ProgressPart[] {
  const begun = tickets.filter(({ status }) => status !== null);
  return order
    .map((meaning) => ({
      meaning,
      count: begun.filter(({ standing }) => standing.meaning === meaning).length,
    }))
    .filter(({ count }) => count > 0);
}

/** `3 of 10 done, 2 need you`. */
export function progressWords({ tickets, done, needYou }: Counted): string {
  if (tickets.length === 0) return 'no tickets are known';
  const canceled = tickets.filter(({ status }) => status === 'canceled').length;
  return [
    `${done} of ${tickets.length} done`,
    ...(needYou > 0 ? [`${needYou} ${needYou === 1 ? 'needs' : 'need'} you`] : []),
    ...(canceled > 0 ? [`${canceled} canceled`] : []),
  ].join(', ');
}

/** `2 of 3`: the wave that is under way, or the last one that was; `2 of 3+` when not all waves are known. */
export function waveWords(waves: RunModel['waves']): string {
  const numbered = waves.filter(({ wave }) => wave !== null);
  if (numbered.length === 0) return 'none yet';
  const current = numbered.findLast(({ state }) => state !== null)?.wave ?? 0;
  const isMore = numbered.length < waves.length;
  return isMore ? `${current} of ${numbered.length + 1}+` : `${current} of ${numbered.length}`;
}
