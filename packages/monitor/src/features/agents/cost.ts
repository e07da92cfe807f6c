// What the agent of a worker cost, over all its attempts: one rule for every screen and for budgets. An agent reports the
// cost of its process, or of its session over all processes: then attempts that continue a session are not added up. What
// an agent does not report is estimated from its tokens and a list of prices, and marked. Unknown stays unknown.

import type { SignalFile } from '@svc/contract/signal-file';
import type { AgentCost, AttemptCost, Spent } from '../workers/agent-fields.ts';
import { isShipped } from '../workers/status-groups.ts';
import { costOf } from './prices.ts';

const MOST_ATTEMPTS = 1_000;
const MOST_DAYS = 7;

/** A later report of an attempt, or of its sum, replaces the earlier one. */
export function spentAfter(before: Spent, report: AttemptCost, at: string): Spent {
  const others = before.attempts.filter(
    ({ attempt, sum }) => attempt !== report.attempt && (sum === null || sum !== report.sum),
  );
  const attempts = [...others, report].slice(-MOST_ATTEMPTS);
  const added = (costOfAttempts(attempts).usd ?? 0) - (costOfAttempts(before.attempts).usd ?? 0);
  const day = at.slice(0, 10);
  const today = before.days.find((one) => one.day === day)?.usd ?? 0;
  if (added === 0) return { ...before, attempts };
  const days = before.days.filter((one) => one.day !== day);
  return { attempts, days: [...days, { day, usd: Math.max(0, today + added) }].slice(-MOST_DAYS) };
}

function addUp(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}

function costOfAttempts(attempts: readonly AttemptCost[]): AgentCost {
  const costs = attempts.map(({ usd, tokens, model }) => ({
    usd,
    tokens,
    estimate: usd ?? estimateOf(model, tokens),
  }));
  const known = costs.flatMap(({ estimate }) => estimate ?? []);
  const counted = costs.flatMap(({ tokens }) => tokens ?? []);
  return {
    usd: addUp(known),
    estimated: costs.some(({ usd, estimate }) => usd === null && estimate !== null),
    partial: known.length > 0 && known.length < costs.length,
    inputTokens: addUp(counted.map(({ input }) => input)),
    outputTokens: addUp(counted.map(({ output }) => output)),
  };
}

/** Input that was read from a cache is cheaper; agents do not say how much that was, so the estimate is high. */
function estimateOf(model: string | null, tokens: AttemptCost['tokens']): number | null {
  if (model === null || tokens === null) return null;
  // `openai/gpt-5.5[high]`, `$runtime|openai|gpt-5.5(openai)`
  const name = model.replace(/[[(].*$/, '').replace(/^.*[/|]/, '');
  return costOf(name, { ...tokens, cachedInput: 0 });
}

/** If the worker's agent reported nothing, what its signal file contains; null: nothing is known at all. */
export function costOfWorker({
  spent,
  signal,
}: {
  spent: Spent;
  signal: SignalFile | null;
}): AgentCost | null {
  if (spent.attempts.length > 0) return costOfAttempts(spent.attempts);
  if (typeof signal?.cost !== 'object' || signal.cost === null) return null;
  const { usd = null, inputTokens = null, outputTokens = null } = signal.cost;
  return { usd, inputTokens, outputTokens, estimated: false, partial: false };
}

/** Workers without a known cost make the sum partial. */
export function sumOfCosts(
  costs: readonly (AgentCost | null)[],
): Pick<AgentCost, 'usd' | 'estimated' | 'partial'> {
  const known = costs.flatMap((cost) =>
    cost === null || cost.usd === null ? [] : [{ ...cost, usd: cost.usd }],
  );
  return {
    usd: addUp(known.map(({ usd }) => usd)),
    estimated: known.some(({ estimated }) => estimated),
    partial: known.length > 0 && (known.length < costs.length || known.some(({ partial }) => partial)),
  };
}

type Sum = Pick<AgentCost, 'usd' | 'estimated' | 'partial'>;
/** `perShipped` is everything divided by the tickets that shipped: what one of them takes. Null: unknown, or none. */
export type CostSummary = {
  tickets: number;
  shipped: number;
  total: Sum;
  perTicket: Sum | null;
  perShipped: Sum | null;
};

export function costSummary(workers: readonly { status: string; cost: AgentCost | null }[]): CostSummary {
  const total = sumOfCosts(workers.map(({ cost }) => cost));
  const shipped = workers.filter(isShipped).length;
  const known = workers.filter(({ cost }) => cost !== null && cost.usd !== null).length;
  const per = (count: number): Sum | null =>
    total.usd === null || count === 0 ? null : { ...total, usd: total.usd / count };
  return { tickets: workers.length, shipped, total, perTicket: per(known), perShipped: per(shipped) };
}

/** `$4.20`, `under $0.01` for what would round to zero, `unknown`: never 0 for an unknown amount. */
export function usdText(usd: number | null): string {
  if (usd === null) return 'unknown';
  if (usd > 0 && usd < 0.01) return 'under $0.01';
  return `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** `$4.20`, `≈$4.20` for an estimate, `at least $4.20` if some of it is unknown, `unknown`. */
export function costText(cost: Sum | null | undefined): string {
  if (cost === null || cost === undefined || cost.usd === null) return usdText(null);
  return `${cost.partial ? 'at least ' : ''}${cost.estimated ? '≈' : ''}${usdText(cost.usd)}`;
}

/** For a run or one of its tickets. */
export function runCostText(run: {
  costUsd: number | null;
  costEstimated: boolean;
  costPartial: boolean;
}): string {
  return costText({ usd: run.costUsd, estimated: run.costEstimated, partial: run.costPartial });
}
