// Writes what the agents' streams tell of cost and tokens into their signal files, at most every few seconds.
import { type AgentStream, workerKey } from '@svc/core';
import type { SignalStore } from '../../runs/signal-store.ts';
import { agentFiles } from '../agents/agent-files.ts';
import type { FoundAgent } from '../agents/find-again.ts';
import { type OutputWatch, watchOutput } from '../agents/watch-output.ts';
import { isLive } from './look.ts';

const WRITE_EVERY_MS = 10_000;

export type Costs = {
  /** Live agents are followed; of those that ended, the last word is written. */
  follow: (agents: readonly FoundAgent[]) => void;
  /** Resolves when what is known of agents that have ended is written. */
  written: () => Promise<void>;
  stop: () => Promise<void>;
};

type Followed = { watch: OutputWatch; orchestrator: string; ticket: string; written: string; at: number };

export function keepCosts({
  runsDir,
  signals,
  onProblem,
}: {
  runsDir: string;
  signals: Pick<SignalStore, 'update'>;
  onProblem: (error: unknown) => void;
}): Costs {
  const followed = new Map<string, Followed>();
  const writing = new Set<Promise<void>>();
  const lettingGo = new Set<Promise<void>>();

  function write(one: Followed): void {
    const { cost } = one.watch.stream();
    const text = JSON.stringify(cost);
    if (text === one.written || isNothing(cost)) return;
    one.written = text;
    one.at = performance.now();
    const job = signals
      .update(one.orchestrator, one.ticket, (signal) => ({ ...signal, cost: { ...signal.cost, ...cost } }))
      .then(() => undefined, onProblem)
      .finally(() => writing.delete(job));
    writing.add(job);
  }

  async function letGo(key: string, one: Followed): Promise<void> {
    followed.delete(key);
    await one.watch.look();
    write(one);
    await one.watch.stop();
  }

  return {
    follow(agents) {
      const live = new Set<string>();
      for (const { orchestrator, ticket, attempt } of agents.filter(isLive)) {
        const key = workerKey(orchestrator, ticket);
        live.add(key);
        const path = agentFiles(runsDir, { orchestrator, ticket, attempt }).output;
        const one = followed.get(key) ?? {
          watch: watchOutput({ path, onProblem }),
          orchestrator,
          ticket,
          written: '',
          at: Number.NEGATIVE_INFINITY,
        };
        followed.set(key, one);
        if (performance.now() - one.at >= WRITE_EVERY_MS) write(one);
      }
      for (const [key, one] of followed) {
        if (live.has(key)) continue;
        const job = letGo(key, one)
          .catch(onProblem)
          .finally(() => lettingGo.delete(job));
        lettingGo.add(job);
      }
    },
    async written() {
      await Promise.all(lettingGo);
      await Promise.all(writing);
    },
    async stop() {
      for (const { watch } of followed.values()) await watch.stop();
      await Promise.all(writing);
    },
  };
}

function isNothing({ usd, inputTokens, outputTokens }: AgentStream['cost']): boolean {
  return usd === null && inputTokens === 0 && outputTokens === 0;
}
