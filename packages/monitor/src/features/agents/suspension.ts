// Ends the process of an agent that has had nothing to do for a while: it keeps 300 MB. The log has it first, so that the end
// is no death. The next message starts the agent again with its conversation. One that waits for an answer stays, and one
// that could not open its conversation again.

import type { Board } from '../../kernel/board/board.ts';
import { draft, type EventDraft } from '../../kernel/log/event-line.ts';
import { workerKey } from '../workers/reduce-worker.ts';
import { scopeOfWorker } from '../workers/worker-attention.ts';
import type { AgentTalk } from './io/agent-session.ts';

const MINUTE_MS = 60_000;

export type Suspension = {
  /** Whether the process of the agent is to be ended now. */
  isDue: (agent: Attempt, talk: AgentTalk) => Promise<boolean>;
};

type Attempt = { orchestrator: string; ticket: string; attempt: number };

function hasNothingToDo(talk: AgentTalk): boolean {
  const { state, open } = talk.session();
  return state === 'idle' && open.length === 0 && talk.isReady() && talk.waiting().length === 0;
}

export function createSuspension({
  board,
  idleMinutesOf,
  append,
  now,
}: {
  board: () => Board;
  /** `svc.orchestration.idleAgentMinutes` of the run's project; null: never. */
  idleMinutesOf: (orchestrator: string) => Promise<number | null>;
  /** `log.appendOnce` */
  append: (draft: EventDraft) => Promise<unknown>;
  now: () => Date;
}): Suspension {
  return {
    async isDue({ orchestrator, ticket, attempt }, talk) {
      const worker = board().workers.get(workerKey(orchestrator, ticket));
      const agent = worker?.agent ?? null;
      const isIdle = agent?.attempt === attempt && agent.state === 'idle' && hasNothingToDo(talk);
      if (worker === undefined || agent === null || !isIdle || worker.recall !== null) return false;
      // The daemon was killed between the line and the end of the process.
      if (agent.suspended !== undefined) return true;
      const { resume, load } = talk.session().can;
      const minutes = resume || load ? await idleMinutesOf(orchestrator) : null;
      if (minutes === null || now().getTime() - Date.parse(agent.since) < minutes * MINUTE_MS) return false;
      await append({
        ...draft('agent.suspended', scopeOfWorker(worker), { attempt, minutes }),
        source: 'orchestrator',
        via: 'local',
        deliveryId: `agent.suspended:${worker.key}.${attempt}:${agent.since}`,
      });
      // A message that came meanwhile starts a turn, and that ends the suspension.
      return hasNothingToDo(talk);
    },
  };
}
