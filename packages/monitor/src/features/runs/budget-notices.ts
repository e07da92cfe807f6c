// Attention about budgets: raised when one is reached or cannot be enforced, resolved when it is raised or no longer set.

import type { Board } from '../../kernel/board/board.ts';
import { draft, type EventDraft } from '../../kernel/log/event-line.ts';
import { budgetStop, hasBudget, unknownSpenders } from '../agents/budget.ts';
import { attentionId } from '../attention/reduce-attention.ts';
import { isPreMerge } from '../workers/status-groups.ts';
import type { PlannedRun } from './acts.ts';
import type { Observation } from './io/observe.ts';

const REACHED = 'budget-reached';
const UNKNOWN = 'budget-unknown';

type Notice = { ticket: string | null; reason: string; message: string; remedy: string };

export function createBudgetNotices({
  board,
  append,
}: {
  board: () => Board;
  append: (draft: EventDraft) => Promise<void>;
}): (observed: Observation) => Promise<void> {
  /** Raised by this process: a person who resolves one is not asked again. */
  const raised = new Map<string, string>();

  return async ({ world }) => {
    const due = new Map<string, Notice & { orchestrator: string }>();
    for (const planned of world.runs)
      for (const notice of noticesOf(planned, board(), world.now)) {
        const { orchestrator } = planned.run;
        due.set(attentionId({ orchestrator, ...notice }), { orchestrator, ...notice });
      }
    for (const [id, { orchestrator, ticket, reason, message, remedy }] of due) {
      if (board().attention.has(id) || raised.get(id) === remedy) continue;
      raised.set(id, remedy);
      const scope = { orchestrator, ...(ticket !== null && { ticket }) };
      const severity = reason === REACHED ? 'high' : 'low';
      await append(
        draft('comms.attention', scope, { reason, message, remedy, severity }, { source: 'orchestrator' }),
      );
    }
    for (const [id, { reason, orchestrator, ticket }] of board().attention) {
      if ((reason !== REACHED && reason !== UNKNOWN) || due.has(id)) continue;
      raised.delete(id);
      const scope = { ...(orchestrator !== null && { orchestrator }), ...(ticket !== null && { ticket }) };
      const planned = world.runs.find(({ run }) => run.orchestrator === orchestrator);
      const detail = { reason, message: `Resolved: ${whyOver(planned, reason)}`, by: 'svc' };
      await append(draft('comms.attention_resolved', scope, detail, { source: 'orchestrator' }));
    }
  };
}

function whyOver(planned: PlannedRun | undefined, reason: string): string {
  if (planned === undefined || !isOpen(planned.run)) return 'the run has ended';
  if (!hasBudget(planned.limits.budget)) return 'no budget is set any more';
  return reason === REACHED ? 'the cost is below the budget again' : 'every cost is known';
}

function isOpen({ state }: PlannedRun['run']): boolean {
  return state === 'running' || state === 'paused';
}

function noticesOf({ run, limits, spenders }: PlannedRun, { workers }: Board, now: string): Notice[] {
  const { orchestrator } = run;
  if (!hasBudget(limits.budget) || !isOpen(run)) return [];
  const own = [...workers.values()].filter(
    (one) => one.orchestrator === orchestrator && isPreMerge(one.status),
  );
  const names = [null, ...own.map(({ ticket }) => ticket)];
  const reached = names.flatMap((ticket): Notice[] => {
    const stop = budgetStop(spenders, { orchestrator, ticket }, limits.budget, now);
    return stop?.ticket === ticket ? [{ reason: REACHED, ...stop }] : [];
  });
  const unknown = unknownSpenders(spenders, orchestrator);
  if (unknown.length === 0) return reached;
  const message = `The cost of the agent of ${unknown.join(', ')} is not known, or only in part: budgets count only what is known`;
  return [...reached, { ticket: null, reason: UNKNOWN, message, remedy: 'svc telemetry cost' }];
}
