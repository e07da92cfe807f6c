// Writes what one attempt does to the log: in order, each event once by its name, and again after a failure, because a full disk must not lose what an agent did.
import { pause } from '@svc/lib/timeout';
import type { EventDraft, EventScope } from '../../../kernel/log/event-line.ts';
import { type AgentFact, agentFacts } from '../facts.ts';
import { isUnpaid } from '../limits.ts';
import type { AgentEntry, AgentSession } from '../session.ts';
import { watchOutput } from './output.ts';

const USAGE_EVERY_MS = 5_000;
const LOG_AGAIN_MS = 1_000;

export type AgentLog = {
  /** `name` identifies the event among those of its topic and attempt; without one it is not looked for in the log. */
  add: (fact: Pick<AgentFact, 'event' | 'detail'> & { name?: string }) => void;
  /** Adds amounts that have changed, every few seconds; with a name at once. */
  addUsage: (amounts: Pick<AgentSession, 'context' | 'tokens' | 'cost'>, name?: string) => void;
  /** Adds what a line of the session changed. */
  addEntry: (entry: AgentEntry, sessions: { before: AgentSession; after: AgentSession }) => void;
  /** Resolves when everything so far is in the log, with the number of the last line. */
  written: () => Promise<number>;
};

export function createAgentLog(options: {
  agent: { orchestrator: string; ticket: string; attempt: number };
  /** Its name in the configuration. */
  name: string;
  scope: () => EventScope;
  /** `log.appendOnce` */
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  /** Resolves when the board has the current content of the worker's signal file. */
  syncSignal: (worker: { orchestrator: string; ticket: string }) => Promise<void>;
  /** How many messages are sent next. */
  queued: () => number;
  /** When a usage limit ends, by its words. */
  limitEnd: (words: string) => string | null;
  onProblem: (error: unknown) => void;
  stopping: AbortSignal;
}): AgentLog {
  const { agent, append, onProblem, stopping } = options;
  const { orchestrator, ticket, attempt } = agent;
  let written: Promise<void> = Promise.resolve();
  let seq = 0;
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
          ({ seq } = await append({
            event,
            source: 'orchestrator',
            via: 'local',
            ...(name !== undefined && id),
            scope: options.scope(),
            detail: { attempt, ...detail },
          } as EventDraft));
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

  const addUsage: AgentLog['addUsage'] = ({ context, tokens, cost }, name) => {
    const text = JSON.stringify([context, tokens, cost]);
    const isDue = name !== undefined || performance.now() - usage.at >= USAGE_EVERY_MS;
    if (text === usage.text || !isDue) return;
    usage = { text, at: performance.now() };
    add({ event: 'agent.usage', detail: { context, tokens, cost }, ...(name !== undefined && { name }) });
  };

  return {
    add,
    addUsage,
    addEntry(entry, { before, after }) {
      for (const fact of agentFacts(entry, before, after)) add(completed(fact, after));
      if (after.state === 'running') addUsage(after);
    },
    async written() {
      await written;
      return seq;
    },
  };
}

// What an agent that runs as a command line reports in its output: its cost, and a usage limit as its result.

/** For comparing the times of files. */
const TOLERANCE_MS = 2_000;

export type CommandLine = {
  /** Logs what its sessions cost so far, every few seconds. */
  logCost: () => void;
  /** Reads the rest and logs it, and a limit, if this attempt has written something. */
  end: (launchedAt: string) => Promise<void>;
  stop: () => Promise<void>;
};

/** All attempts write to one file. */
export function followCommandLine({
  path,
  log,
  limitEnd,
  onProblem,
}: {
  path: string;
  log: Pick<AgentLog, 'add' | 'addUsage'>;
  limitEnd: (words: string, path: string) => string | null;
  onProblem: (error: unknown) => void;
}): CommandLine {
  const output = watchOutput({ path, onProblem });

  function logCost(name?: string): void {
    const { usd, inputTokens: input, outputTokens } = output.stream().cost;
    const tokens = input + outputTokens === 0 ? null : { input, output: outputTokens };
    const cost = usd === null ? null : { amount: usd, currency: 'USD' };
    if (cost !== null || tokens !== null) log.addUsage({ tokens, cost, context: null }, name);
  }

  return {
    logCost: () => logCost(),
    async end(launchedAt) {
      await output.read();
      logCost('end');
      const { limit, ended } = output.stream();
      const writtenAt = Date.parse(output.lastOutputAt() ?? '');
      if (limit === null || writtenAt < Date.parse(launchedAt) - TOLERANCE_MS) return;
      const text = ended?.reason ?? limit;
      const detail = { turn: 0, text, until: limitEnd(limit, path), unpaid: isUnpaid(limit) };
      log.add({ event: 'agent.limit.reached', name: 'limit', detail });
    },
    stop: output.stop,
  };
}
