import type { WorkerView } from '@svc/core';

export type RunSpend = {
  run: string;
  usd: number;
  inputTokens: number;
  outputTokens: number;
  /** Workers that told a cost, and those that did not: their cost is unknown, not nothing. */
  told: number;
  unknown: number;
};

/** By run, the dearest first; runs of which no worker told a cost are left out. */
export function spendByRun(workers: readonly Pick<WorkerView, 'orchestrator' | 'cost'>[]): RunSpend[] {
  const runs = [...Map.groupBy(workers, ({ orchestrator }) => orchestrator)].map(([run, all]) => {
    const costs = all.flatMap(({ cost }) => (cost === null || cost.usd === null ? [] : [cost]));
    const sum = (read: (cost: (typeof costs)[number]) => number | null): number =>
      costs.reduce((total, cost) => total + (read(cost) ?? 0), 0);
    return {
      run,
      usd: sum(({ usd }) => usd),
      inputTokens: sum(({ inputTokens }) => inputTokens),
      outputTokens: sum(({ outputTokens }) => outputTokens),
      told: costs.length,
      unknown: all.length - costs.length,
    };
  });
  return runs.filter(({ told }) => told > 0).toSorted((one, other) => other.usd - one.usd);
}
