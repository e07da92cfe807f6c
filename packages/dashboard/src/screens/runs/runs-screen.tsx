// All runs, newest first.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { runCostText } from 'svc-monitor/src/features/agents/cost.ts';
import { runLabel } from 'svc-monitor/src/features/runs/run-labels.ts';
import { Ago } from '../../parts/age.tsx';
import { waitedWords } from '../../parts/format.ts';
import { useMatchesNarrow } from '../../parts/narrow.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { ScreenHead } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Remedy } from '../../parts/remedy.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { Cell, Column, rowClass, Table } from '../../parts/table.tsx';
import type { RunModel } from '../run/run-model.ts';
import { useRuns } from '../run/use-run.ts';
import { OpenTickets } from './open-tickets.tsx';
import { Progress, waveWords } from './progress.tsx';

export function RunsScreen() {
  const { models, loading, failure, again } = useRuns();
  const isNarrow = useMatchesNarrow();
  return (
    <div className="mx-auto max-w-[100rem]">
      <ScreenHead title="Runs" />
      {failure !== null && models.length === 0 ? (
        <Failed error={failure} again={again} />
      ) : loading && models.length === 0 ? (
        <Loading what="the runs" lines={6} />
      ) : models.length === 0 ? (
        <Empty title="No runs yet.">
          <p>
            A run takes tickets from research to deploy, with one agent for each. Start one in your project:
          </p>
          <Remedy text="svc orchestrate start ABC-1 ABC-2" />
        </Empty>
      ) : (
        <div className="rounded-card border border-line bg-surface">
          {isNarrow ? <RunsList models={models} /> : <RunsTable models={models} />}
        </div>
      )}
      <OpenTickets className="mt-6" />
    </div>
  );
}

function RunsTable({ models }: { models: readonly RunModel[] }) {
  return (
    <Table
      label="Runs, newest first"
      head={
        <>
          <Column>Run</Column>
          <Column>State</Column>
          <Column>Progress</Column>
          <Column number className="max-full:hidden">
            Wave
          </Column>
          <Column number className="max-full:hidden">
            <span className="ml-auto block w-16 whitespace-normal">Active agents</span>
          </Column>
          <Column number>Cost</Column>
          <Column number>
            <span className="ml-auto block w-20 whitespace-normal">Waited for people</span>
          </Column>
          <Column number className="max-full:hidden">
            Started
          </Column>
          <Column number className="max-full:hidden">
            Ended
          </Column>
        </>
      }
    >
      {models.map((model) => {
        const { meaning, words } = runLabel(model.state);
        return (
          <tr key={model.orchestrator} className={rowClass}>
            <Cell className="min-w-40 py-2.5">
              <RunName model={model} />
            </Cell>
            <Cell>
              <Pill meaning={meaning}>{words}</Pill>
            </Cell>
            <Cell className="w-40 full:w-56">
              <Progress model={model} />
            </Cell>
            <Cell number className="max-full:hidden">
              {waveWords(model.waves)}
            </Cell>
            <Cell number className="max-full:hidden">
              {workingWords(model)}
            </Cell>
            <Cell number>{runCostText(model)}</Cell>
            <Cell number>{waitedOf(model)}</Cell>
            <Cell number className="max-full:hidden">
              <Ago at={model.startedAt} />
            </Cell>
            <Cell number className="max-full:hidden">
              {model.endedAt === null ? (
                <span className="text-muted">not yet</span>
              ) : (
                <Ago at={model.endedAt} />
              )}
            </Cell>
          </tr>
        );
      })}
    </Table>
  );
}

function RunName({ model }: { model: RunModel }) {
  return (
    <>
      <Link
        to="/runs/$run"
        params={{ run: model.orchestrator }}
        className="font-medium text-ink underline decoration-line-strong underline-offset-2 hover:decoration-current"
      >
        <OutsideText>{model.name ?? model.orchestrator}</OutsideText>
      </Link>
      {model.name !== null && <p className="font-mono text-tiny text-muted">{model.orchestrator}</p>}
    </>
  );
}

/** The same for a narrow page, which has no space for nine columns. */
function RunsList({ models }: { models: readonly RunModel[] }) {
  return (
    <ul aria-label="Runs, newest first">
      {models.map((model) => {
        const { meaning, words } = runLabel(model.state);
        return (
          <li
            key={model.orchestrator}
            className="flex flex-col gap-2.5 border-line border-b p-4 last:border-b-0"
          >
            <div className="flex items-start justify-between gap-3">
              <div className="min-w-0">
                <RunName model={model} />
              </div>
              <Pill meaning={meaning}>{words}</Pill>
            </div>
            <Progress model={model} />
            <dl className="grid grid-cols-3 gap-x-3 gap-y-2 text-small">
              <Fact name="Wave">{waveWords(model.waves)}</Fact>
              <Fact name="Active agents">{workingWords(model)}</Fact>
              <Fact name="Cost">{runCostText(model)}</Fact>
              <Fact name="Waited for people">{waitedOf(model)}</Fact>
              <Fact name="Started">
                <Ago at={model.startedAt} />
              </Fact>
              <Fact name="Ended">{model.endedAt === null ? 'not yet' : <Ago at={model.endedAt} />}</Fact>
            </dl>
          </li>
        );
      })}
    </ul>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-tiny text-muted">{name}</dt>
      <dd className="text-ink">{children}</dd>
    </div>
  );
}

function workingWords({ working, maxParallel }: RunModel): string {
  return maxParallel === null ? String(working) : `${working} of ${maxParallel}`;
}

function waitedOf({ waited }: RunModel): string {
  return waited === null ? 'unknown' : waitedWords(waited.hours * 3_600_000);
}
