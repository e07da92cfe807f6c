import { classNames } from '../../parts/class-names.ts';
import { markOf } from '../../parts/meaning.ts';
import type { RunModel } from '../run/run-model.ts';
import { progressParts, progressWords } from './progress-words.ts';

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
