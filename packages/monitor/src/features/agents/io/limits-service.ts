// What keeps an agent from its next turn: the usage limit of its provider, and budgets.
import { lookNow } from '@svc/lib/paths';
import type { Board } from '../../../kernel/board/board.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import { workerKey } from '../../workers/reduce-worker.ts';
import { isPreMerge } from '../../workers/status-groups.ts';
import type { Worker } from '../../workers/worker.ts';
import { scopeOfWorker } from '../../workers/worker-attention.ts';
import { type BudgetStop, type Budgets, budgetStop, hasBudget, spendersOf, spentNow } from '../budget.ts';
import { isLimitOver, limitEnd, pausedBy, resumeMessage } from '../limits.ts';
import type { AgentTalk, QueuedMessage } from './agent-session.ts';

type Attempt = { orchestrator: string; ticket: string; attempt: number };

export type Limits = {
  /** When the limit with these words ends. `path` is the file that the agent wrote them to. */
  endOf: (words: string, path: string) => string | null;
  /** The message that continues after a limit. The session sends it once, by its key. */
  resumes: (agent: Attempt) => QueuedMessage[];
  /** An agent in an open run continues when its limit is over, once: the log takes the event once. */
  resumeWhenOver: (worker: Worker) => Promise<void>;
  /** Why a budget allows no further turn, with what the agent has reported since its last event. */
  budgetStop: (one: {
    agent: Attempt;
    talk: AgentTalk | null;
    budget: { project: string; budgets: Budgets } | null;
  }) => BudgetStop | null;
};

export function createLimits({
  board,
  append,
  now,
}: {
  board: () => Board;
  append: (draft: EventDraft) => Promise<unknown>;
  now: () => Date;
}): Limits {
  return {
    endOf(words, path) {
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
      // The agent may have written it long before this daemon reads it.
      const output = lookNow(path);
      const written = output.state === 'present' ? output.modifiedAt : Number.POSITIVE_INFINITY;
      return limitEnd(words, new Date(Math.min(now().getTime(), written)).toISOString(), timeZone);
    },
    resumes({ orchestrator, ticket, attempt }) {
      const known = board().workers.get(workerKey(orchestrator, ticket))?.agent;
      const limit = known?.stopped === null ? known.limit : null;
      return limit?.resumed === true && limit.attempt === attempt ? [resumeMessage(limit)] : [];
    },
    async resumeWhenOver(worker) {
      const limit = pausedBy(worker.agent);
      const isOpen = board().runs.get(worker.orchestrator)?.state === 'running';
      const isNeeded = isOpen && !worker.removed && isPreMerge(worker.status);
      if (limit === null || !isNeeded || !isLimitOver(limit, now())) return;
      const { attempt, turn } = limit;
      const detail = { attempt: worker.agent?.attempt ?? attempt, turn };
      await append({
        ...draft('agent.limit.over', scopeOfWorker(worker), detail),
        source: 'orchestrator',
        via: 'local',
        deliveryId: `agent.limit.over:${worker.key}.${attempt}:${turn}`,
      });
    },
    budgetStop({ agent, budget, talk }) {
      const worker = board().workers.get(workerKey(agent.orchestrator, agent.ticket));
      if (budget === null || worker === undefined || !hasBudget(budget.budgets)) return null;
      const at = now().toISOString();
      const session = talk?.session();
      const spent = session === undefined ? worker.spent : spentNow(worker.spent, agent.attempt, session, at);
      const spenders = spendersOf(board(), budget.project);
      const withLatest = spenders.map((one) => (one === worker ? { ...one, spent } : one));
      return budgetStop(withLatest, worker, budget.budgets, at);
    },
  };
}
