// A run: its waves as a graph, its workers, its time, what it used, and what was verified.

import { useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { CirclePause, CirclePlay, CircleStop } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import { client } from '../../api/client.ts';
import { useNow } from '../../live/live.tsx';
import { costWords, countWords } from '../../parts/amount-words.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { EventLink } from '../../parts/event-link.tsx';
import { runStanding, verificationStanding } from '../../parts/meaning.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel, ScreenHead } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Ago } from '../../parts/since.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { TimeScrubber } from '../../parts/time-scrubber.tsx';
import { clockWords, durationWords } from '../../parts/time-words.ts';
import { Progress } from '../runs/progress.tsx';
import { edgesOf } from './graph-layout.ts';
import type { RunModel } from './run-model.ts';
import { RunSummary } from './run-summary.tsx';
import { RunTimeline } from './run-timeline.tsx';
import { useRun } from './use-run.ts';
import { WaveGraph } from './wave-graph.tsx';
import { WorkersTable } from './workers-table.tsx';

// What the run has used: money, tokens, places for workers, and people's time.

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

// A person's words on a run: pause, resume, cancel. Each says what it will do; what the daemon refuses, it says why.

export function RunControls({ model, disabledBecause }: { model: RunModel; disabledBecause: string | null }) {
  const queries = useQueryClient();
  const { orchestrator, state, isConducted, working } = model;
  const say = async (word: 'pause' | 'resume' | 'cancel'): Promise<void> => {
    await client.post(`/api/runs/{run}/${word}`, { params: { run: orchestrator } });
    await queries.invalidateQueries({ queryKey: ['run', orchestrator] });
  };
  const over = state === 'completed' || state === 'canceled' ? `The run is ${state}.` : null;
  const because = disabledBecause ?? over;
  const foreign = !isConducted && (
    <p className="text-muted">
      Somebody else conducts this run: svc writes your word into the log, and whether it is heeded is up to
      them.
    </p>
  );
  return (
    <>
      {state === 'paused' ? (
        <Confirm
          trigger={
            <>
              <CirclePlay aria-hidden="true" className="size-4" />
              Resume
            </>
          }
          title={`Resume ${orchestrator}`}
          label="Resume the run"
          disabledBecause={because}
          onConfirm={() => say('resume')}
        >
          <p>Workers are started again as places become free.</p>
          {foreign}
        </Confirm>
      ) : (
        <Confirm
          trigger={
            <>
              <CirclePause aria-hidden="true" className="size-4" />
              Pause
            </>
          }
          title={`Pause ${orchestrator}`}
          label="Pause the run"
          disabledBecause={because}
          onConfirm={() => say('pause')}
        >
          <p>
            No new worker is started.{' '}
            {working === 0 ? 'None works now.' : `The ${working} that work now go on.`}
          </p>
          {foreign}
        </Confirm>
      )}
      <Confirm
        trigger={
          <>
            <CircleStop aria-hidden="true" className="size-4" />
            Cancel
          </>
        }
        title={`Cancel ${orchestrator}`}
        label="Cancel the run"
        disabledBecause={because}
        onConfirm={() => say('cancel')}
      >
        <p>
          The run is over, and the {working === 1 ? 'worker' : `${working} workers`} at work{' '}
          {working === 1 ? 'is' : 'are'} ended. Pull requests and worktrees stay. A ticket of it can be
          started again later.
        </p>
        {foreign}
      </Confirm>
    </>
  );
}

// What the verification of each merged commit found.

export function VerificationPanel({ model }: { model: RunModel }) {
  const verified = model.tickets.flatMap(({ ticket, worker }) =>
    worker === null || worker.verification === null ? [] : [{ ticket, verification: worker.verification }],
  );
  return (
    <Panel
      title="Verification"
      flush
      aside={
        <Link
          to="/events"
          search={{
            event: 'orchestrator.verification.*',
            filter: `.scope.orchestrator == ${JSON.stringify(model.orchestrator)}`,
          }}
          className="text-small font-medium text-ink underline decoration-line-strong underline-offset-2"
        >
          Its events
        </Link>
      }
    >
      {verified.length === 0 ? (
        <p className="p-4 text-small text-muted">
          No merged commit of this run was verified yet. It begins after a merge, where the project asks for
          it.
        </p>
      ) : (
        <ul>
          {verified.map(({ ticket, verification }) => {
            const { meaning, words } = verificationStanding(verification.state, verification.advisory);
            return (
              <li
                key={ticket}
                className="flex flex-col gap-1 border-line border-b px-4 py-2.5 text-small last:border-b-0"
              >
                <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
                  <Link
                    to="/tickets/$ticket"
                    params={{ ticket }}
                    search={{ run: model.orchestrator }}
                    className="font-mono text-tiny font-medium text-ink underline decoration-line-strong underline-offset-2"
                  >
                    {ticket}
                  </Link>
                  <Pill meaning={meaning}>{words}</Pill>
                  <span className="font-mono text-tiny text-muted">
                    {verification.sha === null ? 'commit unknown' : verification.sha.slice(0, 7)}
                  </span>
                  <span className="ml-auto">
                    <EventLink seq={verification.seq} />
                  </span>
                </div>
                {verification.summary !== null && (
                  <OutsideText className="text-text">{verification.summary}</OutsideText>
                )}
                {verification.state === 'failed' && (
                  <span className="text-muted">
                    {verification.advisory ? 'It blocks nothing. ' : ''}
                    {verification.remediation === null ? (
                      'Nothing was filed about it.'
                    ) : (
                      <>
                        Filed as <OutsideText>{verification.remediation}</OutsideText>.
                      </>
                    )}
                  </span>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}

const PAST = 'You look at a past moment. Go back to now to act.';

export function RunScreen() {
  const { run: name } = useParams({ from: '/runs/$run' });
  const { model, row, moment, loading, failure, again } = useRun(name);
  const edges = useMemo(() => edgesOf(row?.blockedBy), [row?.blockedBy]);
  const disabledBecause = moment === null ? null : PAST;
  if (loading && model === null) return <Loading what="the run" lines={6} />;
  if (failure !== null && model === null) return <Failed error={failure} again={again} />;
  return (
    <div className="mx-auto flex max-w-[100rem] flex-col">
      {model !== null && <Head model={model} disabledBecause={disabledBecause} />}
      <div className="mb-4">
        <TimeScrubber orchestrator={name} />
      </div>
      {model === null ? (
        <Empty title={moment === null ? `There is no run named ${name}` : `${name} had not begun then`}>
          <p>{moment === null ? 'See which there are: svc orchestrate status' : 'Choose a later moment.'}</p>
        </Empty>
      ) : (
        <div className="flex flex-col gap-4">
          <WaveGraph model={model} edges={edges} />
          <WorkersTable model={model} row={row} disabledBecause={disabledBecause} />
          <RunTimeline model={model} moment={moment} />
          <div className="grid items-start gap-4 full:grid-cols-3">
            <RunBudget model={model} />
            <RunSummary
              run={name}
              disabledBecause={moment === null ? null : 'A summary is of now. Go back to now to ask.'}
            />
            <VerificationPanel model={model} />
          </div>
        </div>
      )}
    </div>
  );
}

function Head({ model, disabledBecause }: { model: RunModel; disabledBecause: string | null }) {
  const { meaning, words } = runStanding(model.state);
  return (
    <>
      <ScreenHead
        title={<OutsideText>{model.name ?? model.orchestrator}</OutsideText>}
        aside={<RunControls model={model} disabledBecause={disabledBecause} />}
      >
        <Pill meaning={meaning}>{words}</Pill>
        {model.name !== null && <span className="font-mono text-tiny text-muted">{model.orchestrator}</span>}
        <span className="text-small text-muted">
          {model.startedAt === null ? (
            'nobody told when it began'
          ) : (
            <>
              began <Ago at={model.startedAt} />
            </>
          )}
          {model.endedAt !== null && (
            <>
              , ended <Ago at={model.endedAt} />
            </>
          )}
        </span>
      </ScreenHead>
      <div className="mb-4 max-w-xl">
        <Progress model={model} />
      </div>
    </>
  );
}
