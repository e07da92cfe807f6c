// What users ask first: the cost today, per ticket and per agent, what is left of the budget, and how long agents waited
// for a person. Each figure names its one source. What is only partly known is marked "at least".
import { useQueries, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import {
  type CostSummary,
  costSummary,
  costText,
  sumOfCosts,
  usdText,
} from 'svc-monitor/src/features/agents/cost.ts';
import type { Run } from 'svc-monitor/src/features/runs/run.ts';
import type { AgentCost } from 'svc-monitor/src/features/workers/agent-fields.ts';
import type { WorkerView } from 'svc-monitor/src/features/workers/entity.ts';
import { msWaitedToday } from 'svc-monitor/src/features/workers/waits.ts';
import { client } from '../../api/client.ts';
import type { LiveBoard } from '../../live/board-store.ts';
import { useNow } from '../../live/live.tsx';
import { CopyButton } from '../../parts/button.tsx';
import { waitedWords } from '../../parts/format.ts';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Cell, Column, rowClass, Table } from '../../parts/table.tsx';

type Sum = Pick<AgentCost, 'usd' | 'estimated' | 'partial'>;
type Spender = Pick<WorkerView, 'orchestrator' | 'cost' | 'costByDay' | 'lastAt'>;

/** On this day in UTC, as budgets count it. Null: an agent worked, and nothing is known of what it cost that day. */
export function costOfDay(
  workers: readonly Spender[],
  runs: ReadonlyMap<string, Pick<Run, 'startedAt'>>,
  day: string,
): Sum {
  const isThen = (at: string | null | undefined): boolean => at?.startsWith(day) === true;
  const costs = workers.flatMap((worker): (AgentCost | null)[] => {
    const { cost, costByDay, orchestrator, lastAt } = worker;
    if (costByDay !== undefined) {
      const usd = costByDay.find((one) => one.day === day)?.usd;
      return usd === undefined || cost === null ? [] : [{ ...cost, usd }];
    }
    // All of a run that began today was spent today. Of an older one, only the total is known.
    if (isThen(runs.get(orchestrator)?.startedAt)) return [cost];
    return isThen(lastAt) ? [null] : [];
  });
  const sum = sumOfCosts(costs);
  return costs.length === 0 ? { ...sum, usd: 0 } : sum;
}

type AgentSpend = { agent: string; tickets: number; cost: Sum };

/** By agent program, most expensive first. */
export function spendByAgent(workers: readonly Pick<WorkerView, 'agent' | 'cost'>[]): AgentSpend[] {
  return [...Map.groupBy(workers, ({ agent }) => agent?.name ?? 'Agent not reported')]
    .map(([agent, all]) => ({ agent, tickets: all.length, cost: sumOfCosts(all.map(({ cost }) => cost)) }))
    .toSorted((one, other) => (other.cost.usd ?? -1) - (one.cost.usd ?? -1));
}

const REFRESH_MS = 30_000;

type DayBudget = { folder: string | null; name: string; usd: number | null };

/** The budget of the day of every project that the daemon serves, its first one first; undefined: not known yet. */
function useDayBudgets(): DayBudget[] | undefined {
  const { data: first } = useConfig();
  const others = first?.projects.filter(({ id }) => id !== first.project) ?? [];
  const reports = useQueries({ queries: others.map(({ id }) => configQuery(id)) });
  return first && dayBudgets([first, ...reports.flatMap(({ data }) => data ?? [])]);
}

type Report = {
  project: string | null;
  projects: readonly { id: string; name: string | null; folder: string }[];
  values: readonly { key: string; value: unknown }[];
};

/** The budget of each project, from its configuration. */
export function dayBudgets(reports: readonly Report[]): DayBudget[] {
  return reports.map(({ project, projects, values }) => {
    const value = values.find(({ key }) => key === 'svc.orchestration.budget.dayUsd')?.value;
    const { folder = null, name = null, id = '' } = projects.find((one) => one.id === project) ?? {};
    return { folder, name: name ?? id, usd: typeof value === 'number' ? value : null };
  });
}

const useConfig = () => useQuery(configQuery(''));

/** As the screen of the configuration asks for it. */
function configQuery(project: string) {
  return {
    queryKey: ['config', project],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      client.get('/api/config', { query: project === '' ? {} : { project }, signal }),
    refetchInterval: REFRESH_MS,
  };
}

/** `board` has also what settled long ago, as the costs by run do: all figures of the screen are of the same workers. */
export function Today({ board }: { board: Pick<LiveBoard, 'workers' | 'runs'> }) {
  const workers = [...board.workers.values()];
  const now = useNow();
  const day = new Date(now).toISOString().slice(0, 10);
  const today = costOfDay(workers, board.runs, day);
  const summary = costSummary(workers);
  const waits = workers.flatMap(({ waited }) => waited ?? []);
  const waiting = waits.filter(({ since }) => since !== null).length;
  const budgets = useDayBudgets();
  const left = (budget: DayBudget | undefined): string => {
    const ofProject = workers.filter(
      ({ orchestrator }) => board.runs.get(orchestrator)?.plan?.project === budget?.folder,
    );
    return leftWords(budget?.usd, costOfDay(ofProject, board.runs, day));
  };
  const limited = budgets?.filter(({ usd }) => usd !== null) ?? [];
  const [budget = budgets?.[0]] = limited;
  return (
    <Panel
      title="Cost and waiting"
      aside={
        <span className="text-tiny text-muted">
          costs as the agents reported them to svc; today is since 00:00 UTC
        </span>
      }
    >
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 wide:grid-cols-4">
        <Figure name="Cost today" note="All runs of this machine">
          {costText(today)}
        </Figure>
        <Figure name="Per ticket" note={perShippedWords(summary)}>
          {summary.tickets === 0 ? 'No ticket yet' : costText(summary.perTicket)}
        </Figure>
        <Figure
          name="Budget left today"
          note={
            <BudgetNote
              budget={budget}
              isOne={budgets?.length === 1}
              others={limited.slice(1).map((one) => `${one.name}: ${left(one)} of ${usdText(one.usd ?? 0)}`)}
            />
          }
        >
          {left(budget)}
        </Figure>
        <Figure
          name="Agents waited for people"
          note={`Today, from the first question to the answer; ${waiting === 0 ? 'none' : waiting} waiting now`}
        >
          {waitedWords(waits.reduce((sum, one) => sum + msWaitedToday(one, now), 0))}
        </Figure>
      </dl>
      <ByAgent rows={spendByAgent(workers.filter(({ cost, agent }) => cost !== null || agent !== null))} />
    </Panel>
  );
}

/** Without tickets there is no cost, which is not an unknown one. */
export function perShippedWords({
  tickets,
  shipped,
  perShipped,
}: Pick<CostSummary, 'tickets' | 'shipped' | 'perShipped'>): string {
  if (tickets === 0) return 'All tickets';
  return `All tickets; ${shipped === 0 ? 'none has shipped yet' : `per shipped one: ${costText(perShipped)}`}`;
}

/** `$3.20`; `at most` because what is not known may have been spent too. */
export function leftWords(budget: number | null | undefined, spent: Sum): string {
  if (budget === undefined) return 'unknown';
  if (budget === null) return 'No budget';
  if (spent.usd === null) return 'unknown';
  return `${spent.partial ? 'at most ' : ''}${usdText(Math.max(0, budget - spent.usd))}`;
}

function BudgetNote({
  budget,
  isOne,
  others,
}: {
  budget: DayBudget | undefined;
  isOne: boolean;
  others: readonly string[];
}) {
  if (budget === undefined) return 'Reading the configuration';
  if (budget.usd !== null)
    return (
      <>
        Of {usdText(budget.usd)} a day for {isOne ? 'this project' : <OutsideText>{budget.name}</OutsideText>}
        {others.map((words) => (
          <OutsideText key={words} className="block text-text">
            {words}
          </OutsideText>
        ))}
      </>
    );
  return (
    <span className="-ml-2.5 block">
      <CopyButton text="svc config set svc.orchestration.budget.dayUsd 20" label="Copy command" />
    </span>
  );
}

function Figure({ name, note, children }: { name: string; note: ReactNode; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col">
      <dt className="text-small font-medium text-ink">{name}</dt>
      <dd className="text-title font-semibold text-ink">{children}</dd>
      <dd className="text-tiny text-muted">{note}</dd>
    </div>
  );
}

function ByAgent({ rows }: { rows: readonly AgentSpend[] }) {
  if (rows.length === 0) return null;
  return (
    <Table
      label="Cost by agent"
      className="mt-4"
      head={
        <>
          <Column>Agent</Column>
          <Column number>Cost, all its tickets</Column>
          <Column number>Tickets</Column>
        </>
      }
    >
      {rows.map(({ agent, tickets, cost }) => (
        <tr key={agent} className={rowClass}>
          <Cell>
            <OutsideText>{agent}</OutsideText>
          </Cell>
          <Cell number>{costText(cost)}</Cell>
          <Cell number>{tickets}</Cell>
        </tr>
      ))}
    </Table>
  );
}
