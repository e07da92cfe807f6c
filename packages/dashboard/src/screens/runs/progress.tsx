import { classNames } from '../../parts/class-names.ts';
import { type Meaning, markOf } from '../../parts/meaning.ts';
import type { RunModel } from '../run/run-model.ts';

/** How far a run has come: a bar of its tickets by meaning, with the words beside it. */
export function Progress({ model }: { model: RunModel }) {
  const total = Math.max(1, model.tickets.length);
  return (
    <div className="flex min-w-44 flex-col gap-1">
      <div aria-hidden="true" className="flex h-1.5 gap-px overflow-hidden rounded-full bg-sunken">
        {progressParts(model).map(({ meaning, count }) => (
          <span
            key={meaning}
            className={classNames('h-full', markOf[meaning])}
            style={{ width: `${(count / total) * 100}%` }}
          />
        ))}
      </div>
      <span className="text-tiny text-muted">{progressWords(model)}</span>
    </div>
  );
}

// How far a run has come, in parts of its tickets and in words. Only what is done counts as done.

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
