// The cost that the workers report, by run, of every run, also of those that settled long ago. It is not an
// invoice.
import { Link } from '@tanstack/react-router';
import { costText } from 'svc-monitor/src/features/agents/cost.ts';
import type { WorkerView } from 'svc-monitor/src/features/workers/entity.ts';
import type { LiveBoard } from '../../live/board-store.ts';
import { countWords } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Empty } from '../../parts/states.tsx';
import { Cell, Column, rowClass, Table } from '../../parts/table.tsx';

export type RunSpend = {
  run: string;
  /** Null: no worker of the run reported any. */
  usd: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** Workers that reported a cost, and those that did not: their cost is unknown, not zero. */
  reported: number;
  unknown: number;
  estimated: boolean;
};

/** By run, most expensive first; those of which no cost is known come last. */
export function spendByRun(workers: readonly Pick<WorkerView, 'orchestrator' | 'cost'>[]): RunSpend[] {
  const runs = [...Map.groupBy(workers, ({ orchestrator }) => orchestrator)].map(([run, all]) => {
    const costs = all.flatMap(({ cost }) => (cost === null || cost.usd === null ? [] : [cost]));
    const sum = (read: (cost: (typeof costs)[number]) => number | null): number | null =>
      costs.length === 0 ? null : costs.reduce((total, cost) => total + (read(cost) ?? 0), 0);
    return {
      run,
      usd: sum(({ usd }) => usd),
      inputTokens: sum(({ inputTokens }) => inputTokens),
      outputTokens: sum(({ outputTokens }) => outputTokens),
      reported: costs.length,
      unknown: all.length - costs.length,
      estimated: costs.some(({ estimated }) => estimated),
    };
  });
  return runs.toSorted((one, other) => (other.usd ?? -1) - (one.usd ?? -1));
}

export function Spend({ board }: { board: Pick<LiveBoard, 'workers'> }) {
  const rows = spendByRun([...board.workers.values()]);
  const most = Math.max(...rows.map(({ usd }) => usd ?? 0), 0.01);
  return (
    <Panel
      title="Cost and tokens by run"
      aside={<span className="text-tiny text-muted">as the agents reported it, since each run began</span>}
    >
      {rows.length === 0 ? (
        <Empty title="No run has started.">
          <p>Give an agent a task: press n, or start an open ticket on the board.</p>
        </Empty>
      ) : (
        <Table
          label="Cost and tokens by run"
          head={
            <>
              <Column>Run</Column>
              <Column className="w-1/3 max-wide:hidden">
                <span className="sr-only">Share</span>
              </Column>
              <Column number>Cost</Column>
              <Column number className="max-wide:hidden">
                Tokens in
              </Column>
              <Column number className="max-wide:hidden">
                Tokens out
              </Column>
              <Column number>Tickets</Column>
            </>
          }
        >
          {rows.map((row) => (
            <tr key={row.run} className={rowClass}>
              <Cell>
                <Link
                  to="/runs/$run"
                  params={{ run: row.run }}
                  className="whitespace-nowrap text-ink underline-offset-2 hover:underline"
                >
                  {row.run}
                </Link>
              </Cell>
              <Cell className="max-wide:hidden">
                <div
                  aria-hidden="true"
                  className="h-2 rounded-full bg-line-strong"
                  style={{ width: `${((row.usd ?? 0) / most) * 100}%` }}
                />
              </Cell>
              <Cell number>
                {costText({ usd: row.usd, estimated: row.estimated, partial: row.unknown > 0 })}
              </Cell>
              <Cell number className="max-wide:hidden">
                {tokenWords(row.inputTokens)}
              </Cell>
              <Cell number className="max-wide:hidden">
                {tokenWords(row.outputTokens)}
              </Cell>
              <Cell number>
                {row.reported}
                {row.unknown > 0 && <span className="text-muted"> and {row.unknown} unknown</span>}
              </Cell>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}

function tokenWords(tokens: number | null): string {
  return tokens === null ? 'unknown' : countWords(tokens);
}
