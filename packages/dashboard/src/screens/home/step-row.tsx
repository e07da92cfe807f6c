// The steps of a worker as a small row. Each state has a shape of its own, so that it can be read without colour:
// done is a full disc, current a ring with a core, failed a cross, to come an empty ring, not proven a dashed one.
import { classNames } from '../../parts/class-names.ts';
import type { Meaning } from '../../parts/meaning.ts';
import { type Step, type StepState, stepWords } from './phase-steps.ts';

const GAP = 16;
const RADIUS = 4;

/** `now` is the meaning of the current step. */
export function StepRow({ steps, now }: { steps: readonly Step[]; now: Meaning }) {
  const width = (steps.length - 1) * GAP + 2 * RADIUS + 2;
  return (
    <svg
      role="img"
      aria-label={stepWords(steps)}
      viewBox={`0 0 ${width} 12`}
      width={width}
      height={12}
      className="shrink-0 fill-none stroke-2"
    >
      {steps.map((step, index) => (
        <g key={step.name} transform={`translate(${index * GAP + RADIUS + 1} 6)`}>
          <title>{`${step.name}: ${step.state}`}</title>
          {index > 0 && (
            <path
              d={`M${5 - GAP} 0H-5`}
              className={classNames(
                'stroke-1',
                step.state === 'ahead' ? 'stroke-line' : 'stroke-line-strong',
              )}
            />
          )}
          <Mark {...step} now={now} />
        </g>
      ))}
    </svg>
  );
}

const strokes: Record<Meaning, string> = {
  motion: 'stroke-motion-mark',
  you: 'stroke-you-mark',
  broken: 'stroke-broken-mark',
  proven: 'stroke-proven-mark',
  review: 'stroke-review-mark',
  unknown: 'stroke-unknown-mark',
};
const fills: Record<Meaning, string> = {
  motion: 'fill-motion-mark',
  you: 'fill-you-mark',
  broken: 'fill-broken-mark',
  proven: 'fill-proven-mark',
  review: 'fill-review-mark',
  unknown: 'fill-unknown-mark',
};

function Mark({ state, seen, now }: { state: StepState; seen: boolean; now: Meaning }) {
  switch (state) {
    case 'done':
      return <circle r={3.5} stroke="none" className={seen ? 'fill-proven-mark' : 'fill-line-strong'} />;
    case 'current':
      return (
        <>
          <circle r={4} className={classNames('stroke-[1.5]', strokes[now])} />
          <circle r={1.75} stroke="none" className={fills[now]} />
        </>
      );
    case 'failed':
      return <path d="M-3.25 -3.25 3.25 3.25M3.25 -3.25 -3.25 3.25" className="stroke-broken-mark" />;
    case 'skipped':
      return <circle r={3.5} strokeDasharray="2 1.6" className="stroke-1 stroke-unknown-mark" />;
    case 'ahead':
      return <circle r={3} className="stroke-1 stroke-line-strong opacity-60" />;
  }
}
