// What the run has used: money, tokens, places for workers, and people's time.
import type { ReactNode } from 'react';
import { useNow } from '../../live/live.tsx';
import { costWords, countWords } from '../../parts/amount-words.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { clockWords, durationWords } from '../../parts/time-words.ts';
import type { RunModel } from './run-model.ts';

export function RunBudget({ model }: { model: RunModel }) {
  const { costUsd, tokens, done, working, maxParallel, waited, tickets } = model;
  const withoutCost = tickets.filter((one) => one.status !== null && one.costUsd === null).length;
  return (
    <Panel title="Budget">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4">
        <Figure name="Cost so far" figure={costWords(costUsd)}>
          {costUsd !== null && done > 0 && `${costWords(costUsd / done)} for each that is done`}
          {withoutCost > 0 && ` ${withoutCost} told no cost.`}
        </Figure>
        <Figure name="Tokens" figure={tokens === null ? 'unknown' : countWords(tokens.input + tokens.output)}>
          {tokens !== null && `${countWords(tokens.input)} in, ${countWords(tokens.output)} out`}
        </Figure>
        <Figure
          name="Workers now"
          figure={maxParallel === null ? String(working) : `${working} of ${maxParallel}`}
        >
          {maxParallel === null
            ? 'No limit is known'
            : maxParallel <= working
              ? 'Every place is taken'
              : 'at most at once'}
        </Figure>
        <Figure
          name="Waited on people"
          figure={waited === null ? 'unknown' : durationWords(waited.hours * 3_600_000)}
        >
          {waited === null
            ? 'Only told for now, not for a past moment'
            : waited.waiting === 0
              ? 'Nobody is waited for now'
              : `${waited.waiting} ${waited.waiting === 1 ? 'waits' : 'wait'} for a person now`}
        </Figure>
      </dl>
      <p className="mt-4 border-line border-t pt-3 text-small text-muted">
        {maxParallel === null
          ? 'This run has no limit of its own.'
          : `Its one limit: ${maxParallel} workers at once.`}{' '}
        No limit on cost is set for a run.
      </p>
      <Holds model={model} />
    </Panel>
  );
}

function Figure({ name, figure, children }: { name: string; figure: string; children: ReactNode }) {
  return (
    <div className="flex flex-col">
      <dt className="text-tiny text-muted">{name}</dt>
      <dd className="text-figure text-ink max-wide:text-title">{figure}</dd>
      <dd className="text-tiny text-muted">{children}</dd>
    </div>
  );
}

/** Why something does not go on. */
function Holds({ model: { holds } }: { model: RunModel }) {
  const now = useNow();
  if (holds.length === 0) return null;
  return (
    <ul aria-label="What is held, and why" className="mt-3 flex flex-col gap-1.5 text-small">
      {holds.map(({ ticket, message, until }) => (
        <li key={`${ticket}${message}`} className="rounded-control bg-sunken px-3 py-2">
          {ticket !== null && <span className="mr-2 font-mono text-tiny font-medium text-ink">{ticket}</span>}
          <OutsideText>{message}</OutsideText>
          {until !== null && <span className="text-muted"> Until {clockWords(Date.parse(until), now)}.</span>}
        </li>
      ))}
    </ul>
  );
}
