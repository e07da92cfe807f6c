import type { Meaning } from 'svc-monitor/src/kernel/board/label.ts';
import { classNames } from '../../parts/class-names.ts';
import { markOf } from '../../parts/meaning.ts';
import type { RunModel } from '../run/run-model.ts';

/** The progress of a run: a bar of its tickets by meaning, and the text beside it. */
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

type ProgressPart = { meaning: Meaning; count: number };
type Counted = Pick<RunModel, 'tickets' | 'done' | 'needYou'>;

const order: readonly Meaning[] = ['proven', 'review', 'motion', 'broken', 'you'];

/** The segments in order; tickets that have not started are the rest. */
export function progressParts({ tickets }: Pick<Counted, 'tickets'>): ProgressPart[] {
  const started = tickets.filter(({ status }) => status !== null);
  return order
    .map((meaning) => ({
      meaning,
      count: started.filter(({ label }) => label.meaning === meaning).length,
    }))
    .filter(({ count }) => count > 0);
}

/** `3 of 10 done, 2 need you`. */
export function progressWords({ tickets, done, needYou }: Counted): string {
  if (tickets.length === 0) return 'no known tickets';
  const canceled = tickets.filter(({ status }) => status === 'canceled').length;
  return [
    `${done} of ${tickets.length} done`,
    ...(needYou > 0 ? [`${needYou} ${needYou === 1 ? 'needs' : 'need'} you`] : []),
    ...(canceled > 0 ? [`${canceled} canceled`] : []),
  ].join(', ');
}

/** `2 of 3`: the current or last started wave; `2 of 3+` if not all waves are known. */
export function waveWords(waves: RunModel['waves']): string {
  const numbered = waves.filter(({ wave }) => wave !== null);
  if (numbered.length === 0) return 'none yet';
  const current = numbered.findLast(({ state }) => state !== null)?.wave ?? 0;
  const isMore = numbered.length < waves.length;
  return isMore ? `${current} of ${numbered.length + 1}+` : `${current} of ${numbered.length}`;
}
