// A run: waves, workers, timeline, budget, summary and verification.
import { useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { CirclePause, CirclePlay, CircleStop } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import { runCostText } from 'svc-monitor/src/features/agents/cost.ts';
import { runLabel, verificationLabel } from 'svc-monitor/src/features/runs/run-labels.ts';
import { client } from '../../api/client.ts';
import { useDisabledBecause, useNow } from '../../live/live.tsx';
import { Ago } from '../../parts/age.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { EventLink } from '../../parts/event-link.tsx';
import { clockWords, countWords, waitedWords } from '../../parts/format.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel, ScreenHead } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { TimeScrubber } from '../../parts/time-scrubber.tsx';
import { Progress } from '../runs/progress.tsx';
import { edgesOf } from './graph-layout.ts';
import type { RunModel } from './run-model.ts';
import { RunSummary } from './run-summary.tsx';
import { RunTimeline } from './run-timeline.tsx';
import { useRun } from './use-run.ts';
import { WaveGraph } from './wave-graph.tsx';
import { WorkersTable } from './workers-table.tsx';

// What the run has used: money, tokens, worker slots, and people's time.

export function RunBudget({ model }: { model: RunModel }) {
  const { costUsd, tokens, done, working, maxParallel, waited, tickets } = model;
  const withoutCost = tickets.filter((one) => one.status !== null && one.costUsd === null).length;
  return (
    <Panel title="Budget">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4">
        <Figure name="Cost so far" figure={runCostText(model)}>
          {costUsd !== null &&
            done > 0 &&
            `${runCostText({ ...model, costUsd: costUsd / done })} per shipped ticket.`}
          {withoutCost > 0 && ` ${withoutCost} reported no cost.`}
        </Figure>
        <Figure name="Tokens" figure={tokens === null ? 'unknown' : countWords(tokens.input + tokens.output)}>
          {tokens !== null && `${countWords(tokens.input)} in, ${countWords(tokens.output)} out`}
        </Figure>
        <Figure
          name="Active agents"
          figure={maxParallel === null ? String(working) : `${working} of ${maxParallel}`}
        >
          {maxParallel === null
            ? 'Limit unknown'
            : maxParallel <= working
              ? 'At the limit'
              : 'Below the limit'}
        </Figure>
        <Figure
          name="Waited for people"
          figure={waited === null ? 'unknown' : waitedWords(waited.hours * 3_600_000)}
        >
          {waited === null
            ? 'Live view only'
            : waited.waiting === 0
              ? 'Nothing is waiting for a person'
              : `${waited.waiting} waiting for a person now`}
        </Figure>
      </dl>
      <p className="mt-4 border-line border-t pt-3 text-small text-muted">
        {maxParallel === null ? 'No limit on parallel agents.' : `Limit: ${maxParallel} parallel agents.`}
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

function Holds({ model: { holds } }: { model: RunModel }) {
  const now = useNow();
  if (holds.length === 0) return null;
  return (
    <ul aria-label="On hold" className="mt-3 flex flex-col gap-1.5 text-small">
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

// Pause, resume and cancel. Each asks for confirmation and shows why the daemon refused it.

export function RunControls({ model, disabledBecause }: { model: RunModel; disabledBecause: string | null }) {
  const queries = useQueryClient();
  const { orchestrator, state, isManaged, working } = model;
  const send = async (action: 'pause' | 'resume' | 'cancel'): Promise<void> => {
    await client.post(`/api/runs/{run}/${action}`, { params: { run: orchestrator } });
    await queries.invalidateQueries({ queryKey: ['run', orchestrator] });
  };
  const over = state === 'completed' || state === 'canceled' ? `The run is ${state}.` : null;
  const because = disabledBecause ?? over;
  const foreign = !isManaged && (
    <p className="text-muted">
      svc does not manage this run. It records your request in the log; the other orchestrator decides whether
      to follow it.
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
          onConfirm={() => send('resume')}
        >
          {foreign || <p>svc starts agents again, up to the limit.</p>}
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
          onConfirm={() => send('pause')}
        >
          {foreign || (
            <p>
              No new agents are started.{' '}
              {working === 0
                ? 'None is running now.'
                : `${working} running ${working === 1 ? 'agent continues' : 'agents continue'}.`}
            </p>
          )}
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
        dismiss="Keep the run"
        danger
        disabledBecause={because}
        onConfirm={() => send('cancel')}
      >
        {foreign || (
          <p>
            This ends the run
            {working > 0 && ` and stops ${working} running ${working === 1 ? 'agent' : 'agents'}`}. Pull
            requests and worktrees stay. Tickets can be restarted later.
          </p>
        )}
      </Confirm>
    </>
  );
}

// The verification results of the merged commits.

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
          Events
        </Link>
      }
    >
      {verified.length === 0 ? (
        <p className="p-4 text-small text-muted">
          No merged commit of this run has been verified yet. Verification starts after a merge, if the
          project enables it.
        </p>
      ) : (
        <ul>
          {verified.map(({ ticket, verification }) => {
            const { meaning, words } = verificationLabel(verification.state, verification.advisory);
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
                    {verification.advisory ? 'Does not block. ' : ''}
                    {verification.remediation === null ? (
                      'No follow-up was filed.'
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

export function RunScreen() {
  const { run: name } = useParams({ from: '/runs/$run' });
  const { model, row, moment, loading, failure, again } = useRun(name);
  const edges = useMemo(() => edgesOf(row?.blockedBy), [row?.blockedBy]);
  const disabledBecause = useDisabledBecause();
  if (loading && model === null) return <Loading what="the run" lines={6} />;
  if (failure !== null && model === null) return <Failed error={failure} again={again} />;
  return (
    <div className="mx-auto flex max-w-[100rem] flex-col">
      {model !== null && <Head model={model} disabledBecause={disabledBecause} />}
      <div className="mb-4">
        <TimeScrubber orchestrator={name} />
      </div>
      {model === null ? (
        <Empty title={moment === null ? `No run named ${name}.` : `${name} had not started at this time.`}>
          {moment === null ? <Remedy text="svc orchestrate status" /> : <p>Choose a later time.</p>}
        </Empty>
      ) : (
        <div className="flex flex-col gap-4">
          <WaveGraph model={model} edges={edges} />
          <WorkersTable model={model} row={row} disabledBecause={disabledBecause} />
          <RunTimeline model={model} moment={moment} />
          <div className="grid items-start gap-4 full:grid-cols-3">
            <RunBudget model={model} />
            <RunSummary run={name} disabledBecause={disabledBecause} />
            <VerificationPanel model={model} />
          </div>
        </div>
      )}
    </div>
  );
}

function Head({ model, disabledBecause }: { model: RunModel; disabledBecause: string | null }) {
  const { meaning, words } = runLabel(model.state);
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
            'start time unknown'
          ) : (
            <>
              started <Ago at={model.startedAt} />
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
