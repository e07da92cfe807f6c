// Writes what one attempt does to the log, and its cost to the signal file: in order, each event once by its name, and
// again after a failure, because a full disk must not lose what an agent did.
import {
  type AgentEntry,
  type AgentFact,
  type AgentSession,
  agentFacts,
  type EventDraft,
  type EventScope,
  type SignalFile,
} from '@svc/core';
import { pause } from '@svc/lib/timeout';
import type { SignalStore } from '../../runs/signal-store.ts';

const USAGE_EVERY_MS = 5_000;
const LOG_AGAIN_MS = 1_000;

export type AgentLog = {
  /** `name` identifies the event among those of its topic and attempt; without one it is not looked for in the log. */
  add: (fact: Pick<AgentFact, 'event' | 'detail'> & { name?: string }) => void;
  /** Adds what a line of the session changed. */
  addEntry: (entry: AgentEntry, sessions: { before: AgentSession; after: AgentSession }) => void;
  /** Resolves when everything so far is in the log. */
  written: () => Promise<void>;
};

export function createAgentLog(options: {
  agent: { orchestrator: string; ticket: string; attempt: number };
  /** Its name in the configuration. */
  name: string;
  scope: () => EventScope;
  /** `log.appendOnce` */
  append: (draft: EventDraft) => Promise<unknown>;
  signals: Pick<SignalStore, 'update'>;
  /** Resolves when the board has the current content of the worker's signal file. */
  syncSignal: (worker: { orchestrator: string; ticket: string }) => Promise<void>;
  /** How many messages are sent next. */
  queued: () => number;
  /** When a usage limit ends, by its words. */
  limitEnd: (words: string) => string | null;
  onProblem: (error: unknown) => void;
  stopping: AbortSignal;
}): AgentLog {
  const { agent, append, signals, onProblem, stopping } = options;
  const { orchestrator, ticket, attempt } = agent;
  let written: Promise<void> = Promise.resolve();
  let usage = { text: '', at: performance.now() };

  function next(work: () => Promise<void>): void {
    const before = written;
    written = (async () => {
      await before;
      await work();
    })();
  }

  const add: AgentLog['add'] = ({ event, detail, name }) =>
    next(async () => {
      while (!stopping.aborted) {
        try {
          // Whether the ticket's work is done decides whether an agent that stops needs a person.
          if (event === 'agent.turn.ended') await options.syncSignal(agent);
          const id = { deliveryId: `${event}:${orchestrator}/${ticket}.${attempt}:${name}` };
          // A fact has the detail of its topic.
          await append({
            event,
            source: 'orchestrator',
            via: 'local',
            ...(name !== undefined && id),
            scope: options.scope(),
            detail: { attempt, ...detail },
          } as EventDraft);
          return;
        } catch (error) {
          onProblem(error);
          await pause(LOG_AGAIN_MS, stopping);
        }
      }
    });

  /** With the name that the agent has in the configuration, and with what follows a turn. */
  function completed(fact: AgentFact, { limit }: AgentSession): AgentFact {
    if (fact.event === 'agent.session.started')
      return { ...fact, detail: { ...fact.detail, agent: options.name } };
    if (fact.event === 'agent.turn.ended')
      return { ...fact, detail: { ...fact.detail, queued: options.queued() } };
    if (fact.event === 'agent.limit.reached')
      return { ...fact, detail: { ...fact.detail, until: options.limitEnd(limit ?? '') } };
    return fact;
  }

  function addUsage({ context, tokens, cost, state }: AgentSession): void {
    const text = JSON.stringify([context, tokens, cost]);
    const isDue = performance.now() - usage.at >= USAGE_EVERY_MS;
    if (text === usage.text || !isDue || state !== 'running') return;
    usage = { text, at: performance.now() };
    add({ event: 'agent.usage', detail: { context, tokens, cost } });
  }

  function writeCost({ tokens, cost }: AgentSession): void {
    const known: SignalFile['cost'] = {
      ...(cost?.currency === 'USD' && { usd: cost.amount }),
      ...(tokens !== null && { inputTokens: tokens.input, outputTokens: tokens.output }),
    };
    if (Object.keys(known).length === 0) return;
    next(async () => {
      await signals
        .update(orchestrator, ticket, (signal) => ({ ...signal, cost: { ...signal.cost, ...known } }))
        .catch(onProblem);
    });
  }

  return {
    add,
    addEntry(entry, { before, after }) {
      for (const fact of agentFacts(entry, before, after)) add(completed(fact, after));
      addUsage(after);
      if (after.turns > before.turns) writeCost(after);
    },
    written: () => written,
  };
}
