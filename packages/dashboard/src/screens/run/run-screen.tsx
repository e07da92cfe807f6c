// A run: its waves as a graph, its workers, its time, what it used, and what was verified.
import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { OutsideText } from '../../parts/outside.tsx';
import { ScreenHead } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Ago } from '../../parts/since.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { runStanding } from '../../parts/status-meaning.ts';
import { TimeScrubber } from '../../parts/time-scrubber.tsx';
import { Progress } from '../runs/progress.tsx';
import { edgesOf } from './graph-layout.ts';
import { RunBudget } from './run-budget.tsx';
import { RunControls } from './run-controls.tsx';
import type { RunModel } from './run-model.ts';
import { RunSummary } from './run-summary.tsx';
import { RunTimeline } from './run-timeline.tsx';
import { useRun } from './use-run.ts';
import { VerificationPanel } from './verification-panel.tsx';
import { WaveGraph } from './wave-graph.tsx';
import { WorkersTable } from './workers-table.tsx';

const PAST = 'You look at a past moment. Go back to now to act.';

export function RunScreen() {
  const { run: name = '' } = useParams({ strict: false }) as { run?: string };
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
