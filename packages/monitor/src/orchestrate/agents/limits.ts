// Usage limits of agents: when one ends, and how an agent continues after it.
import { statSync } from 'node:fs';
import {
  type Board,
  draft,
  type EventDraft,
  isLimitOver,
  isPreMerge,
  limitEnd,
  pausedBy,
  resumeMessage,
  scopeOfWorker,
  type Worker,
  workerKey,
} from '@svc/core';
import type { QueuedMessage } from './agent-session.ts';

type Attempt = { orchestrator: string; ticket: string; attempt: number };

export type Limits = {
  /** When the limit with these words ends. `path` is the file that the agent wrote them to. */
  endOf: (words: string, path: string) => string | null;
  /** The message that continues after a limit. The session sends it once, by its key. */
  resumes: (agent: Attempt) => QueuedMessage[];
  /** An agent in an open run continues when its limit is over, once: the log takes the event once. */
  resumeWhenOver: (worker: Worker) => Promise<void>;
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
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return {
    endOf(words, path) {
      // The agent may have written it long before this daemon reads it.
      const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
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
  };
}
