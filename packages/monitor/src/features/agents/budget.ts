// Budgets: what the agents of a ticket, of a run, or of a project on one day may cost. When the known cost has reached one,
// no further turn is started; a turn that runs may end. What is not known cannot be stopped, and is shown as such.

import type { Board } from '../../kernel/board/board.ts';
import type { AgentCost } from '../workers/agent-fields.ts';
import { type AttemptCost, type Spent } from '../workers/agent-fields.ts';
import type { Worker } from '../workers/worker.ts';
import { costOfWorker, costText, spentAfter, sumOfCosts, usdText } from './cost.ts';
import type { AgentSession } from './session.ts';
import { costCovers } from './tokens.ts';

export type Budgets = { ticketUsd: number | null; runUsd: number | null; dayUsd: number | null };
export type Spender = Pick<Worker, 'orchestrator' | 'ticket' | 'spent' | 'signal'>;
type Name = { orchestrator: string; ticket: string | null };

/** `ticket` is null if the whole run is stopped. */
export type BudgetStop = { ticket: string | null; message: string; remedy: string };

export function hasBudget(budgets: Budgets): boolean {
  return Object.values(budgets).some((budget) => budget !== null);
}

/** The workers of all runs of the project. */
export function spendersOf({ runs, workers }: Pick<Board, 'runs' | 'workers'>, project: string): Spender[] {
  return [...workers.values()].filter(
    ({ orchestrator }) => runs.get(orchestrator)?.plan?.project === project,
  );
}

/** Why no turn may be started for the ticket, or for any ticket of the run. `spenders` are those of its project. */
export function budgetStop(
  spenders: readonly Spender[],
  { orchestrator, ticket }: Name,
  { ticketUsd, runUsd, dayUsd }: Budgets,
  now: string,
): BudgetStop | null {
  const ofRun = (): Spender[] => spenders.filter((one) => one.orchestrator === orchestrator);
  const ofTicket = (): Spender[] => ofRun().filter((one) => one.ticket === ticket);
  const day = now.slice(0, 10);
  return (
    stopOf('dayUsd', `The budget of the project for ${day}`, null, dayUsd, () => costOfDay(spenders, day)) ??
    stopOf('runUsd', `The budget of the run ${orchestrator}`, null, runUsd, () => costOfAll(ofRun())) ??
    stopOf('ticketUsd', `The budget of ${ticket}`, ticket, ticketUsd, () => costOfAll(ofTicket()))
  );
}

type Sum = Pick<AgentCost, 'usd' | 'estimated' | 'partial'>;

function stopOf(
  key: keyof Budgets,
  what: string,
  ticket: string | null,
  most: number | null,
  read: () => Sum,
): BudgetStop | null {
  const spent = most === null ? null : read();
  if (most === null || spent === null || (spent.usd ?? 0) < most) return null;
  return {
    ticket,
    message: `${what} is used up: ${costText(spent)} of ${usdText(most)}. A turn that runs may end, no further one is started`,
    remedy: `svc config set svc.orchestration.budget.${key} <amount>`,
  };
}

function costOfAll(spenders: readonly Spender[]): Sum {
  return sumOfCosts(spenders.map(costOfWorker));
}

function costOfDay(spenders: readonly Spender[], day: string): Sum {
  return sumOfCosts(
    spenders.flatMap((one) => {
      const usd = one.spent.days.find((known) => known.day === day)?.usd;
      const cost = usd === undefined ? null : costOfWorker(one);
      return usd === undefined || cost === null ? [] : [{ ...cost, usd }];
    }),
  );
}

/** Tickets of the run whose cost is not known, or only in part. */
export function unknownSpenders(spenders: readonly Spender[], orchestrator: string): string[] {
  return spenders
    .filter((one) => one.orchestrator === orchestrator)
    .filter((one) => {
      const cost = costOfWorker(one);
      return cost !== null && (cost.usd === null || cost.partial);
    })
    .map(({ ticket }) => ticket);
}

/** With what the session has reported and the log does not have yet. */
export function spentNow(spent: Spent, attempt: number, session: AgentSession, now: string): Spent {
  const { agent, sessionId, cost, tokens, model } = session;
  const usd = cost?.currency === 'USD' ? cost.amount : null;
  if (usd === null && tokens === null) return spent;
  const sum = costCovers(agent?.name) === 'session' ? sessionId : null;
  const report: AttemptCost = { attempt, sum, usd, tokens, model };
  return spentAfter(spent, report, now);
}
